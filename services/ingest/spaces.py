"""The space use-cases: embedding spaces are listed, and their thresholds set."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.common.embedding.thresholds import Thresholds
from services.common.errors import InvalidArgumentError, NotFoundError, Reason
from services.ingest import page_token
from services.ingest.page_size import checked_size


@dataclass(frozen=True, slots=True)
class SpaceDescription:
    """An embedding space as it is kept; thresholds are cosines, `gate_start` None until it was set."""

    space_id: int
    model: str
    dimensions: int
    element_type: str
    index_kind: str
    min_similarity: float
    gate_start: float | None
    state: str


@dataclass(frozen=True, slots=True)
class SpaceList:
    """A page of spaces and the token of the next one, empty on the last."""

    spaces: Sequence[SpaceDescription]
    next_page_token: str


class SpaceStore(Protocol):
    """Embedding spaces, the same for every tenant."""

    async def spaces(self, after: int, limit: int) -> Sequence[SpaceDescription]:
        """Return at most `limit` spaces by id, behind the one of id `after`."""
        ...

    async def set_thresholds(self, space_id: int, thresholds: Thresholds) -> SpaceDescription | None:
        """Set both thresholds and return the space; None where there is no such space."""
        ...


class Spaces:
    """Lists spaces and sets their thresholds."""

    def __init__(self, store: SpaceStore) -> None:
        """Take the store."""
        self._store = store

    async def list(self, page_size: int, token: str) -> SpaceList:
        """Return a page of spaces by id; raise InvalidArgumentError."""
        size = checked_size(page_size)
        after = page_token.space_id(token) if token else 0
        found = await self._store.spaces(after, size + 1)
        page = found[:size]
        return SpaceList(page, page_token.after_space(page[-1].space_id) if len(found) > size else "")

    async def set_thresholds(
        self, space_id: str, min_similarity: float | None, gate_start: float | None
    ) -> SpaceDescription:
        """Set both thresholds and return the space; raise InvalidArgumentError and NotFoundError.

        Searches and answers go by them within seconds.
        """
        thresholds = Thresholds(_cosine("min_similarity", min_similarity), _cosine("gate_start", gate_start))
        space = await self._store.set_thresholds(_checked_id(space_id), thresholds)
        if space is None:
            raise _not_found()
        return space


def _checked_id(space_id: str) -> int:
    if not space_id:
        raise InvalidArgumentError(Reason.FIELD_MISSING, "space_id is missing.", field="space_id")
    if not (space_id.isascii() and space_id.isdecimal() and len(space_id) <= 9):
        raise _not_found()
    return int(space_id)


def _cosine(field: str, value: float | None) -> float:
    if value is None:
        raise InvalidArgumentError(Reason.FIELD_MISSING, f"{field} is missing.", field=field)
    # NaN fails the comparison, so it is refused too.
    if not (math.isfinite(value) and -1 <= value <= 1):
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE, f"{field} must be -1 to 1.", field=field, least=-1, most=1
        )
    return value


def _not_found() -> NotFoundError:
    return NotFoundError(Reason.NOT_FOUND, "There is no such embedding space; list the spaces to see their ids.")
