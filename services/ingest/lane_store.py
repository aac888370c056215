"""Lanes in Postgres, as the writer role changes them."""

from collections.abc import Sequence

from services.common.postgres.pool import Pool
from services.ingest.model import Lane

PUT_LANE = "SELECT attest.put_lane($1, $2, $3, $4, $5)"


class PostgresLaneStore:
    """Puts lanes; a writer can neither rename nor drop one."""

    def __init__(self, pool: Pool) -> None:
        """Use a pool of the writer role."""
        self._pool = pool

    async def put(self, lanes: Sequence[Lane]) -> None:
        """Make or change the lanes; one that is as told already is not written, one that is not named stays."""
        for lane in lanes:
            values = (lane.name, lane.description, lane.chunk_tokens, lane.overlap_tokens, lane.title_prefix)
            await self._pool.fetch(PUT_LANE, *values)
