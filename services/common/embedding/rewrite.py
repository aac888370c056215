"""Changes to the graph of the packaged model, made when it is loaded: nothing is stored, so nothing can be stale.

The package stores every weight as int8 with one float32 scale per column (per row in tables) and turns all of them into
float32 before it multiplies. Neither rewrite touches a weight.

- `trimmed` gives the same vectors, bit for bit, from less work and memory.
- `integer` multiplies the stored int8 weights as they are with activations rounded to uint8 at run time
  (`DynamicQuantizeLinear` of ONNX, `MatMulIntegerToFloat` of ONNX Runtime): other vectors, half the work.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from services.common.embedding.onnx_graph import node, parsed

_RUNTIME = "com.microsoft"
"""Domain of ONNX Runtime's own operators."""
_FLOAT = 1
"""`TensorProto.DataType.FLOAT`."""


def trimmed(content: bytes) -> bytes:
    """Return the model for single texts without padding: no attention mask, rows of tables scaled after the look-up."""
    graph = _Graph(content)
    graph.look_up_before_scaling()
    graph.drop_attention_mask()
    return graph.written()


def integer(content: bytes) -> bytes:
    """Return the `trimmed` model with integer products; raise ValueError when the weights are not stored as int8."""
    graph = _Graph(content)
    graph.look_up_before_scaling()
    graph.drop_attention_mask()
    graph.multiply_integers()
    return graph.written()


class _Graph:
    """The nodes of a model in order, and who makes and reads what."""

    def __init__(self, content: bytes) -> None:
        self._model = parsed(content)
        self._nodes: list[Any] = list(self._model.graph.node)
        self._tensors = {tensor.name: tensor for tensor in self._model.graph.initializer}
        self._maker = {output: made for made in self._nodes for output in made.output}
        self._readers: defaultdict[str, list[Any]] = defaultdict(list)
        for reader in self._nodes:
            for name in reader.input:
                self._readers[name].append(reader)

    def look_up_before_scaling(self) -> None:
        """Scale the looked-up rows of a table in place of the whole table."""
        self._nodes = [made for old in self._nodes for made in self._looked_up(old)]

    def drop_attention_mask(self) -> None:
        """Feed the scores to the softmax without the mask, and its result on without a look for NaN."""
        renamed: dict[str, str] = {}
        for old in self._nodes:
            if old.op_type == "Softmax" and self._made_by(old.input[0], "Add"):
                renamed[old.input[0]] = self._maker[old.input[0]].input[0]
            elif old.op_type == "Where" and self._made_by(old.input[0], "IsNaN"):
                renamed[old.output[0]] = old.input[2]
        for old in self._nodes:
            old.input[:] = [renamed.get(name, name) for name in old.input]

    def multiply_integers(self) -> None:
        """Replace the products with stored weights, and the additions of a bias after them."""
        rounded: dict[str, list[str]] = {}
        nodes: list[Any] = []
        fused: set[str] = set()
        for old in self._nodes:
            if old.output[0] in fused:
                continue
            stored = self._stored(old.input[1]) if old.op_type == "MatMul" else None
            if stored is None:
                nodes.append(old)
                continue
            states = old.input[0]
            if states not in rounded:
                rounded[states] = [f"{states}/rounded", f"{states}/scale", f"{states}/zero"]
                nodes.append(node("DynamicQuantizeLinear", [states], rounded[states]))
            made = self._integer_product(rounded[states], stored, old)
            fused.add(made.output[0])
            nodes.append(made)
        if not rounded:
            raise ValueError("no weight is stored as int8")
        self._nodes = nodes
        self._model.opset_import.add(domain=_RUNTIME, version=1)

    def written(self) -> bytes:
        """Return the bytes of the model without what nobody reads any more; the same on every machine."""
        graph = self._model.graph
        kept = self._alive({output.name for output in graph.output})
        read = {name for each in kept for name in each.input}
        tensors = [tensor for tensor in graph.initializer if tensor.name in read]
        del graph.node[:]
        graph.node.extend(kept)
        if len(tensors) < len(graph.initializer):
            del graph.initializer[:]
            graph.initializer.extend(tensors)
        return bytes(self._model.SerializeToString(deterministic=True))

    def _looked_up(self, old: Any) -> Iterator[Any]:
        stored = self._stored(old.input[0]) if old.op_type == "Gather" else None
        if stored is None:
            yield old
            return
        (weights, scales), (rows,) = stored, old.output
        yield node("Gather", [weights, old.input[1]], [f"{rows}/int8"], axis=0)
        yield node("Gather", [scales, old.input[1]], [f"{rows}/scale"], axis=0)
        yield node("Cast", [f"{rows}/int8"], [f"{rows}/float"], to=_FLOAT)
        yield node("Mul", [f"{rows}/float", f"{rows}/scale"], [rows])

    def _integer_product(self, rounded: list[str], stored: tuple[str, str], old: Any) -> Any:
        """Make the product together with the addition of its bias, which is its only reader."""
        states, states_scale, states_zero = rounded
        weights, scales = stored
        (added,) = self._readers[old.output[0]]
        if added.op_type != "Add" or added.input[1] not in self._tensors:
            raise ValueError("a product with stored weights has no bias")
        dims = self._tensors[scales].dims
        dims[:] = [dims[-1]]
        inputs = [states, weights, states_scale, scales, states_zero, "", added.input[1]]
        return node("MatMulIntegerToFloat", inputs, list(added.output), _RUNTIME)

    def _stored(self, name: str) -> tuple[str, str] | None:
        """Return int8 weights and scales where `name` is `Mul(Cast(weights), scales)`."""
        if not self._made_by(name, "Mul") or not self._made_by(self._maker[name].input[0], "Cast"):
            return None
        weights, scales = self._maker[self._maker[name].input[0]].input[0], self._maker[name].input[1]
        return (weights, scales) if {weights, scales} <= self._tensors.keys() else None

    def _made_by(self, name: str, kind: str) -> bool:
        return name in self._maker and self._maker[name].op_type == kind

    def _alive(self, wanted: Iterable[str]) -> list[Any]:
        """Return the nodes that the outputs need, in order: a node comes after what it reads."""
        needed = set(wanted)
        alive = []
        for each in reversed(self._nodes):
            if needed & set(each.output):
                needed.update(each.input)
                alive.append(each)
        return alive[::-1]
