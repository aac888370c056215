"""Reads the reply of an embeddings endpoint: every vector at its place, and none that cannot be searched.

`jiter` reads the numbers of 64 passages in 5 ms where `json` takes 40, during which nothing else of the process runs.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import jiter
import numpy as np
from numpy.typing import NDArray

from services.common.embedding.openai_failures import unreadable, unusable
from services.common.vectors import Vector


@dataclass(frozen=True, slots=True)
class Reply:
    """The vectors of a request, one row per text in the order of the request, and what they cost."""

    vectors: Vector
    """Float32, each row of length one."""
    tokens: int
    """Tokens that the endpoint counted; 0 where it does not say."""


def read_reply(content: bytes, texts: int, dimensions: int | None) -> Reply:
    """Return the reply to a request of `texts` texts; without `dimensions` any length is right, the same for all.

    A row is placed by its `index`, since endpoints answer out of order, and may hold numbers or base64 whatever was
    asked for. Raises AttemptError: unreadable where the JSON breaks off, unusable where a row is missing, there twice,
    of the wrong length, zero, infinite or not a number.
    """
    try:
        reply = jiter.from_json(content, cache_mode="none")
    except ValueError:
        raise unreadable() from None
    rows = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(rows, list) or len(rows) != texts:
        raise unusable("it has not one vector per text")
    vectors: dict[int, NDArray[Any]] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < texts or index in vectors:
            raise unusable("a vector's index is absent, twice there or beyond the request")
        vectors[index] = _vector(row.get("embedding"))
    return Reply(_checked([vectors[index] for index in range(texts)], dimensions), _tokens(reply))


def _vector(written: Any) -> NDArray[Any]:
    try:
        if isinstance(written, str):
            return np.frombuffer(base64.b64decode(written, validate=True), dtype="<f4")
        if isinstance(written, list):
            return np.array(written, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        pass
    raise unusable("a vector is neither numbers nor base64 of them")


def _checked(vectors: list[NDArray[Any]], dimensions: int | None) -> Vector:
    expected = (vectors[0].size if dimensions is None else dimensions,)
    if not expected[0] or any(vector.shape != expected for vector in vectors):
        raise unusable(f"a vector has not the expected length, which is {expected[0]}")
    rows = np.stack(vectors).astype(np.float64)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise unusable("a vector holds a value that is not a number, or none of a vector's size")
    if not lengths.all():
        raise unusable("a vector is zero")
    scaled: Vector = (rows / lengths).astype(np.float32)
    return scaled


def _tokens(reply: dict[str, Any]) -> int:
    usage = reply.get("usage")
    used = usage.get("total_tokens") if isinstance(usage, dict) else None
    return used if isinstance(used, int) and used > 0 else 0
