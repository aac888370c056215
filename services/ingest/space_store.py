"""Embedding spaces in Postgres, as the writer role sees them."""

from collections.abc import Sequence
from dataclasses import astuple

from services.common.embedding.thresholds import Thresholds
from services.common.postgres.pool import Pool
from services.ingest.spaces import SpaceDescription

LIST_SPACES = """
SELECT space_id, model, dimensions, element_type, index_kind, min_similarity, gate_start, state
FROM attest.embedding_spaces
WHERE space_id > $1
ORDER BY space_id
LIMIT $2
"""

SET_THRESHOLDS = "SELECT attest.set_thresholds($1, $2, $3)"


class PostgresSpaceStore:
    """Lists spaces and sets their thresholds; a writer can change nothing else of one."""

    def __init__(self, pool: Pool) -> None:
        """Use a pool of the writer role."""
        self._pool = pool

    async def spaces(self, after: int, limit: int) -> Sequence[SpaceDescription]:
        """Return at most `limit` spaces by id, behind the one of id `after`."""
        return [SpaceDescription(**row) for row in await self._pool.fetch(LIST_SPACES, after, limit)]

    async def set_thresholds(self, space_id: int, thresholds: Thresholds) -> SpaceDescription | None:
        """Set both thresholds and return the space; None where there is no such space."""
        await self._pool.fetch(SET_THRESHOLDS, space_id, *astuple(thresholds))
        found = await self.spaces(space_id - 1, 1)
        return found[0] if found and found[0].space_id == space_id else None
