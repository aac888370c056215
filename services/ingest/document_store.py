"""The library in Postgres, as the writer role sees it."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any

from services.common.errors import AbortedError, NotFoundError, Reason
from services.common.postgres.pool import Pool
from services.ingest import statements
from services.ingest.library import not_found
from services.ingest.model import Deletion, Lane, LaneInUse, Position, Settings, StoredDocument

_BEFORE_THE_NEWEST = Position(datetime(9999, 1, 1, tzinfo=UTC), "")


class PostgresLibraryStore:
    """Shows, lists and deletes documents, each call inside one tenant."""

    def __init__(self, pool: Pool) -> None:
        """Use a pool of the writer role."""
        self._pool = pool

    async def document(self, tenant: str, document_id: str) -> StoredDocument:
        """Return the document; raise NotFoundError."""
        async with self._pool.tenant(tenant) as connection:
            row = await connection.fetchrow(statements.GET_DOCUMENT, tenant, document_id)
        if row is None:
            raise not_found()
        return StoredDocument(**row)

    async def documents(
        self, tenant: str, lane: str | None, after: Position | None, limit: int, prefix: str = ""
    ) -> Sequence[StoredDocument]:
        """Return at most `limit` documents that stand behind `after`, of those whose address begins with `prefix`.

        Raises NotFoundError with LANE_UNKNOWN.
        """
        after = after or _BEFORE_THE_NEWEST
        place = (after.updated_at, after.document_id)
        async with self._pool.tenant(tenant) as connection:
            if lane is None:
                rows = await connection.fetch(statements.LIST_DOCUMENTS, tenant, *place, limit, prefix)
            elif await connection.fetchrow(statements.LANE, lane):
                rows = await connection.fetch(statements.LIST_DOCUMENTS_OF_LANE, tenant, *place, limit, prefix, lane)
            else:
                raise NotFoundError(Reason.LANE_UNKNOWN, "The lane is not known; list the lanes to see those that are.")
        return [StoredDocument(**row) for row in rows]

    async def settings(self, lanes: AbstractSet[str]) -> Settings:
        """Return what documents of those lanes are made under now; a lane that is not there is left out."""
        found = [row for name in sorted(lanes) for row in await self._pool.fetch(statements.LANE, name)]
        active = await self._pool.fetch(statements.ACTIVE_SPACE)
        return Settings({row["name"]: Lane(**row) for row in found}, active[0]["space_id"] if active else None)

    async def delete(self, tenant: str, document_id: str) -> Deletion:
        """Delete the document and all that was made of it; raise NotFoundError, AbortedError with DOCUMENT_BUSY."""
        place = (tenant, document_id)
        async with self._pool.tenant(tenant) as connection:
            found = await connection.fetchrow(statements.GET_DOCUMENT, *place)
            if found is None:
                raise not_found()
            if not await connection.fetchval(statements.TRY_LOCK, tenant, found["lane"], found["source_url"]):
                raise AbortedError(Reason.DOCUMENT_BUSY, "The document is being written by somebody else; try again.")
            chunks = [row["chunk_id"] for row in await connection.fetch(statements.HOLD_CHUNKS, *place)]
            vectors = 0
            for space in await connection.fetch(statements.SPACES):
                query = statements.DELETE_VECTORS.format(space_id=int(space["space_id"]))
                vectors += await connection.fetchval(query, chunks)
            row = await connection.fetchrow(statements.DELETE_DOCUMENT, *place)
            if row is None:
                # Somebody else deleted it between our look and our lock.
                raise not_found()
        return Deletion(StoredDocument(**row), chunks=len(chunks), vectors=vectors)

    async def lanes(self, tenant: str, after: str | None, limit: int) -> Sequence[LaneInUse]:
        """Return at most `limit` lanes by name, behind the one named `after`."""
        async with self._pool.tenant(tenant) as connection:
            rows = await connection.fetch(statements.LIST_LANES, tenant, after or "", limit)
        return [_lane_in_use(row) for row in rows]


def _lane_in_use(row: Any) -> LaneInUse:
    lane = Lane(row["name"], row["description"], row["chunk_tokens"], row["overlap_tokens"], row["title_prefix"])
    return LaneInUse(lane, row["document_count"])
