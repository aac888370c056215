"""Vectors of the sentences of a text, from the token states of one pass over it ("late"), and how they are stored.

A sentence's vector is the mean of the states of its tokens, scaled to length one. Stored, it is one byte a dimension
with a scale, `max(|v|) / 127`: recall and answers do not change by it (docs/decisions/0001-embedding-model.md).
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.vectors import Vector

Span: TypeAlias = tuple[int, int]
"""Start and end of a sentence, in code points of the text it belongs to."""

_FORMAT = b"\x01"
_STEPS = 127


def late_vectors(states: Vector, starts: NDArray[np.int64], spans: Sequence[Span]) -> Vector:
    """Return one row per span from `states`, one row per token, where token i begins at `starts[i]`.

    A token belongs to the sentence that it begins in. A sentence without tokens gets zeros, which are near nothing.
    """
    edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
    inside = (edges[:, :1] <= starts) & (starts < edges[:, 1:])
    sums = inside.astype(np.float32) @ states
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    found: Vector = np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
    return found


def pack(spans: Sequence[Span], vectors: Vector) -> bytes:
    """Return spans and vectors as bytes: a format byte, then start, end, scale (4 bytes each) and int8 values.

    Raises ValueError when there is not one row per span.
    """
    if len(spans) != len(vectors):
        raise ValueError("one vector per span")
    rows = np.zeros(len(spans), _row_type(vectors.shape[1]))
    rows["span"] = np.array(spans, dtype=np.uint32).reshape(-1, 2)
    rows["scale"] = np.abs(vectors).max(axis=1, initial=0.0) / _STEPS
    scales = rows["scale"][:, None]
    steps = np.divide(vectors, scales, out=np.zeros_like(vectors), where=scales > 0)
    rows["values"] = np.clip(np.rint(steps), -_STEPS, _STEPS)
    return _FORMAT + rows.tobytes()


def unpack(packed: bytes, dimensions: int) -> tuple[list[Span], Vector]:
    """Return what `pack` was given, each number within half a scale; raise ValueError on other bytes."""
    kind = _row_type(dimensions)
    if packed[:1] != _FORMAT or (len(packed) - 1) % kind.itemsize:
        raise ValueError("not packed sentence vectors of these dimensions")
    rows = np.frombuffer(packed, kind, offset=1)
    vectors: Vector = rows["values"].astype(np.float32) * rows["scale"][:, None]
    return [(int(start), int(end)) for start, end in rows["span"]], vectors


def _row_type(dimensions: int) -> "np.dtype[np.void]":
    return np.dtype([("span", "<u4", (2,)), ("scale", "<f4"), ("values", "i1", (dimensions,))])
