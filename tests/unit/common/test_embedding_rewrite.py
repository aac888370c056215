"""The rewritten graph of the packaged model, against the graph as it is packaged."""

import dataclasses
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from services.common.embedding.encoder import Encoder
from services.common.embedding.files import packaged_minilm
from services.common.embedding.onnx_graph import node, parsed
from services.common.embedding.precision import Precision
from services.common.embedding.rewrite import integer, trimmed
from services.common.embedding.runtime import onnxruntime
from services.common.errors import FailedPreconditionError, Reason

TEXTS = (
    "",
    "a",
    "Where is the kettle?",
    "\u0645\u0631\u062d\u0628\u0627 \u6771\u4eac",
    "word " * 254,
    "one two. " * 60,
)

Pass = Callable[[str], NDArray[np.float32]]


@pytest.fixture(scope="module")
def packaged() -> bytes:
    return packaged_minilm().read()[0]


@pytest.fixture(scope="module")
def by_package(packaged: bytes) -> Pass:
    return _pass(packaged)


def test_the_trimmed_model_gives_the_same_states_bit_for_bit(packaged: bytes, by_package: Pass) -> None:
    by_trimmed = _pass(trimmed(packaged))

    for text in TEXTS:
        np.testing.assert_array_equal(by_trimmed(text), by_package(text))


def test_the_integer_model_gives_vectors_near_the_exact_ones(packaged: bytes, by_package: Pass) -> None:
    by_integers = _pass(integer(packaged))

    for text in TEXTS:
        one, other = by_integers(text).mean(axis=0), by_package(text).mean(axis=0)
        assert float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)) > 0.97


def test_every_product_with_a_weight_is_one_of_integers(packaged: bytes) -> None:
    graph = parsed(integer(packaged)).graph
    kinds = [made.op_type for made in graph.node]

    assert kinds.count("MatMulIntegerToFloat") == 6 * 6
    assert kinds.count("MatMul") == 6 * 2, "the two products of attention have no weights"


@pytest.mark.parametrize(
    ("rewrite", "digest"),
    [
        (trimmed, "9d1d27333c5cf5222cde303131de3aeda7fc0b12900d897e03b2a97c89637d12"),
        (integer, "fe2747e5a1ed1e7717ff426597ae008e40de63b50254c77124fec0a0fc5bf74b"),
    ],
)
def test_a_rewritten_model_has_the_same_bytes_everywhere(
    packaged: bytes, rewrite: Callable[[bytes], bytes], digest: str
) -> None:
    assert hashlib.sha256(rewrite(packaged)).hexdigest() == digest


def test_no_weight_is_changed(packaged: bytes) -> None:
    before = {tensor.name: tensor for tensor in parsed(packaged).graph.initializer}
    after = list(parsed(integer(packaged)).graph.initializer)

    assert sum(tensor.name.endswith("_q") for tensor in after) == 38
    for tensor in after:
        was = before[tensor.name]
        tensor.dims[:] = was.dims  # scales of columns lose an empty dimension
        assert tensor.SerializeToString() == was.SerializeToString()


def test_a_model_without_stored_integers_is_refused() -> None:
    model: Any = parsed(b"")
    model.graph.node.append(node("MatMul", ["states", "weights"], ["out"]))
    model.graph.output.add(name="out")

    with pytest.raises(ValueError, match="stored as int8"):
        integer(model.SerializeToString())


def test_int8_is_refused_for_a_model_that_cannot_be_rewritten() -> None:
    files = dataclasses.replace(packaged_minilm(), is_rewritable=False)

    with pytest.raises(FailedPreconditionError, match="has no int8 form") as raised:
        Encoder(files, Precision.INT8)
    assert raised.value.reason is Reason.MODEL_UNAVAILABLE


def _pass(content: bytes) -> Pass:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = {each.name for each in session.get_inputs()}
    tokenizer = Tokenizer.from_buffer(packaged_minilm().read_tokenizer())
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def states(text: str) -> NDArray[np.float32]:
        encoding = tokenizer.encode(text)
        rows = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feeds = {name: np.array([numbers]) for name, numbers in rows.items() if name in names}
        found: NDArray[np.float32] = session.run(None, feeds)[0][0]
        return found

    return states
