"""The models that are compared: the packaged one in its precisions, and any other in a folder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from services.common.embedding.files import packaged_minilm
from services.common.embedding.precision import processor_flags, sums_saturate
from services.common.embedding.rewrite import integer, trimmed
from services.common.embedding.runtime import onnxruntime
from services.common.vectors import Vector

NAMES = ("packaged", "exact", "int8", "int8-saturating")
"""As the package has it; rewritten without loss; integer products; those with sums that saturate without VNNI."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A model's bytes, and how it is called."""

    name: str
    onnx: bytes | Path = field(repr=False)
    tokenizer: bytes = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict)
    """Entries of ONNX Runtime's session."""
    max_tokens: int = 256
    is_first_state: bool = False
    """The vector is the state of the first token, not the mean of all."""
    question: str = ""
    """What stands before a question."""
    passage: str = ""


_WIDE_SUMS = {"session.x64quantprecision": "1"} if sums_saturate(processor_flags()) else {}


def variant(name: str) -> Variant:
    """Return one of NAMES, or the model in a folder: `model.onnx`, `tokenizer.json` and an optional `variant.json`."""
    if name not in NAMES:
        folder = Path(name)
        more = json.loads((folder / "variant.json").read_text()) if (folder / "variant.json").exists() else {}
        return Variant(folder.name, folder / "model.onnx", (folder / "tokenizer.json").read_bytes(), **more)
    onnx, tokenizer = packaged_minilm().read()
    if name == "packaged":
        return Variant(name, onnx, tokenizer)
    if name == "exact":
        return Variant(name, trimmed(onnx), tokenizer)
    return Variant(name, integer(onnx), tokenizer, {} if name == "int8-saturating" else _WIDE_SUMS)


class Model:
    """A loaded variant."""

    def __init__(self, made: Variant, *, threads: int = 1, spinning: bool = False) -> None:
        """Load it."""
        self._made = made
        self._tokenizer = Tokenizer.from_buffer(made.tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(made.max_tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        for name in ("intra", "inter"):
            options.add_session_config_entry(f"session.{name}_op.allow_spinning", str(int(spinning)))
        for key, value in made.options.items():
            options.add_session_config_entry(key, value)
        source = str(made.onnx) if isinstance(made.onnx, Path) else made.onnx
        self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        self._inputs = [node.name for node in self._session.get_inputs()]

    def encode(self, text: str) -> Encoding:
        """Return the tokens, cut at the model's limit."""
        return self._tokenizer.encode(text)

    def states(self, encodings: Sequence[Encoding]) -> list[Vector]:
        """Return the token states of each text of one batch, which is padded to the longest."""
        longest = max(len(encoding.ids) for encoding in encodings)
        feeds: dict[str, Any] = {
            "input_ids": _rows([encoding.ids for encoding in encodings], longest),
            "attention_mask": _rows([encoding.attention_mask for encoding in encodings], longest),
            "token_type_ids": _rows([encoding.type_ids for encoding in encodings], longest),
        }
        found = self._session.run(None, {name: feeds[name] for name in self._inputs})[0]
        return [found[index, : len(encoding.ids)] for index, encoding in enumerate(encodings)]

    def pooled(self, states: Vector) -> Vector:
        """Return the vector of a text."""
        return unit(states[0] if self._made.is_first_state else states.mean(axis=0))

    def embed(self, text: str) -> Vector:
        """Return the vector of a text as it stands, without the words before it."""
        return self.pooled(self.states([self.encode(text)])[0])


def unit(vector: Vector) -> Vector:
    """Return the vector at length one."""
    scaled: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
    return scaled


def _rows(numbers: Sequence[Sequence[int]], length: int) -> NDArray[np.int64]:
    return np.array([[*row, *[0] * (length - len(row))] for row in numbers], dtype=np.int64)
