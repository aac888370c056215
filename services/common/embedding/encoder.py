"""One text to one vector, and to one for each of its sentences, on the calling thread."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from services.common.embedding.files import ModelFiles
from services.common.embedding.precision import Precision, processor_flags, sums_saturate
from services.common.embedding.rewrite import integer, trimmed
from services.common.embedding.runtime import onnx_errors, onnxruntime
from services.common.embedding.sentence_vectors import Span, late_vectors
from services.common.embedding.tokens import loaded, not_a_model
from services.common.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, Reason
from services.common.text import is_well_formed
from services.common.vectors import Vector

_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_LOAD_ERRORS = (onnx_errors.Fail, onnx_errors.InvalidGraph, onnx_errors.InvalidProtobuf)


class Encoder:
    """A loaded sentence model: mean of the token states, scaled to length one. Safe to call from many threads."""

    def __init__(self, files: ModelFiles, precision: Precision = Precision.EXACT) -> None:
        """Load the model; raise FailedPreconditionError when its files are absent, wrong or not such a model."""
        onnx, tokenizer = files.read()
        self._tokenizer = loaded(tokenizer, files.name)
        self._session = _session(_graph(onnx, files, precision), files.name)
        self._inputs = frozenset(node.name for node in self._session.get_inputs())
        if not self._inputs <= _INPUTS:
            raise not_a_model(files.name, "model.onnx")
        self._max_tokens = files.max_tokens
        self._dimensions = len(self.embed("dimensions"))

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self._dimensions

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the model's special ones."""
        return len(self._encode(text, add_special_tokens=False).ids)

    def embed(self, text: str) -> Vector:
        """Return the vector of `text`, float32, length one.

        Raises InvalidArgumentError with TEXT_MALFORMED, or with TEXT_TOO_LONG_FOR_MODEL: a text is never cut.
        """
        return _unit(self._states(self._fitting(text)).mean(axis=0))

    def embed_with_sentences(self, text: str, spans: Sequence[Span]) -> tuple[Vector, Vector]:
        """Return the vector of `text`, just as `embed` does, and from the same pass one row per sentence.

        `spans` are code points of `text`. A sentence that no token begins in has a row of zeros.
        """
        encoding = self._fitting(text)
        states = self._states(encoding)
        words = np.flatnonzero(np.array(encoding.special_tokens_mask) == 0)
        starts = np.array([start for start, _ in encoding.offsets], dtype=np.int64)
        return _unit(states.mean(axis=0)), late_vectors(states[words], starts[words], spans)

    def _fitting(self, text: str) -> Encoding:
        encoding = self._encode(text)
        if len(encoding.ids) > self._max_tokens:
            raise _too_long(len(encoding.ids), self._max_tokens)
        return encoding

    def _encode(self, text: str, *, add_special_tokens: bool = True) -> Encoding:
        if not is_well_formed(text):
            raise InvalidArgumentError(Reason.TEXT_MALFORMED, "The text holds NUL or a lone surrogate; remove it.")
        return self._tokenizer.encode(text, add_special_tokens=add_special_tokens)

    def _states(self, encoding: Encoding) -> Vector:
        """Run the model: one state per token, from which vectors of the text or of its sentences are pooled."""
        feeds = {
            "input_ids": _row(encoding.ids),
            "attention_mask": _row(encoding.attention_mask),
            "token_type_ids": _row(encoding.type_ids),
        }
        outputs = self._session.run(None, {name: feeds[name] for name in self._inputs})
        states: Vector = outputs[0][0]
        return states


def _graph(content: bytes, files: ModelFiles, precision: Precision) -> bytes:
    if files.is_rewritable:
        return integer(content) if precision is Precision.INT8 else trimmed(content)
    if precision is Precision.INT8:
        raise FailedPreconditionError(
            Reason.MODEL_UNAVAILABLE, f"The embedding model {files.name} has no int8 form; set the precision to exact."
        )
    return content


def _session(content: bytes, name: str) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    if sums_saturate(processor_flags()):
        options.add_session_config_entry("session.x64quantprecision", "1")  # with VNNI it would cost VNNI itself
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except _LOAD_ERRORS as error:
        raise not_a_model(name, "model.onnx") from error


def _row(numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.array([numbers], dtype=np.int64)


def _unit(vector: Vector) -> Vector:
    norm = float(np.linalg.norm(vector))
    if not 0 < norm < np.inf:
        raise DataLossError(Reason.INTERNAL, "The embedding model gave a vector without direction; check its files.")
    return (vector / norm).astype(np.float32)


def _too_long(tokens: int, limit: int) -> InvalidArgumentError:
    return InvalidArgumentError(
        Reason.TEXT_TOO_LONG_FOR_MODEL,
        f"The text has {tokens} tokens and the embedding model takes {limit}; shorten it.",
        tokens=tokens,
        maxTokens=limit,
    )
