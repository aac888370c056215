"""Passages in Postgres, as the reader role sees them."""

from collections.abc import Sequence

import asyncpg

from services.common.errors import (
    AbortedError,
    DomainError,
    InvalidArgumentError,
    NotFoundError,
    Reason,
    UnavailableError,
)
from services.common.postgres.failures import sqlstate
from services.common.postgres.pool import Pool
from services.retrieval.model import EmbeddingSpace, Passage, VectorQuery

ACTIVE_SPACE = """
SELECT space_id, model, dimensions, min_similarity, gate_start
FROM attest.embedding_spaces
WHERE state = 'ACTIVE' AND gate_start IS NOT NULL
"""

SEARCH_VECTOR = "SELECT * FROM attest.search_vector($1, $2, $3, $4, $5, $6)"


class PostgresPassageStore:
    """Reads passages; each search is one statement in one round trip."""

    def __init__(self, pool: Pool) -> None:
        """Use a pool of the reader role."""
        self._pool = pool

    async def active_space(self) -> EmbeddingSpace:
        """Return the space that is searched; raise UnavailableError when there is none yet."""
        rows = await self._pool.fetch(ACTIVE_SPACE)
        if not rows:
            raise UnavailableError(
                Reason.DATABASE_UNAVAILABLE,
                "There is no embedding space yet; start the ingest service, then try again.",
            )
        return EmbeddingSpace(**rows[0])

    async def search_vector(self, query: VectorQuery) -> Sequence[Passage]:
        """Return the closest passages of the tenant, similarity never rising, ties by passage id."""
        try:
            rows = await self._pool.fetch(
                SEARCH_VECTOR,
                query.tenant,
                query.space_id,
                query.vector,
                list(query.lanes),
                query.top_k,
                query.min_similarity,
            )
        except asyncpg.PostgresError as error:
            refused = _refused(error)
            if refused is None:
                raise
            raise refused from error
        return [_passage(row, rank) for rank, row in enumerate(rows, start=1)]


def _passage(row: asyncpg.Record, rank: int) -> Passage:
    values = dict(row)
    values["heading_path"] = tuple(values["heading_path"])
    return Passage(**values, vector_rank=rank)


def _refused(error: asyncpg.PostgresError) -> DomainError | None:
    """Return what the search function refuses by its own SQLSTATEs."""
    match sqlstate(error):
        case "AT001":
            return NotFoundError(Reason.LANE_UNKNOWN, "A lane is not known; GET /api/lanes lists those that are.")
        case "AT002":
            return AbortedError(Reason.SPACE_MISMATCH, "The embedding space is not the active one any more; try again.")
        case "AT003":
            return InvalidArgumentError(
                Reason.DIMENSION_MISMATCH, "The embedding has not the dimensions of the active embedding space."
            )
        case "22023":
            return InvalidArgumentError(Reason.FIELD_OUT_OF_RANGE, "`top_k` must be from 1 to 1000.", field="top_k")
    return None
