"""The vector index in Postgres, as the writer role may have it built."""

from services.common.postgres.connect import connection
from services.common.postgres.failures import domain_error
from services.common.postgres.pool import Pool
from services.common.postgres.settings import DatabaseSettings

ACTIVE_DUE_SIZE = """
SELECT pg_relation_size(to_regclass(format('attest.%I', 'embeddings_' || space_id)))
FROM attest.embedding_spaces
WHERE state = 'ACTIVE' AND attest.vector_index_is_due(space_id)
"""

BUILD_ACTIVE = "SELECT attest.build_vector_index(space_id) FROM attest.embedding_spaces WHERE state = 'ACTIVE'"

BUILD_SECONDS = 3600.0
"""Longest time of a build; some million rows take it."""


class PostgresVectorIndex:
    """The index of the active space; a build has a connection of its own, since it takes longer than any call."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        """Use a pool of the writer role for looks, and its settings for builds."""
        self._pool = pool
        self._database = database

    async def due_size(self) -> int | None:
        """Return the bytes of the vectors when there are enough for the index and it is not there; else None."""
        rows = await self._pool.fetch(ACTIVE_DUE_SIZE)
        return int(rows[0][0]) if rows else None

    async def build(self) -> bool:
        """Build it and tell whether that was done; raise as the pool does."""
        async with connection(self._database) as session:
            try:
                async with session.transaction():
                    await session.execute(f"SET LOCAL statement_timeout = '{BUILD_SECONDS:.0f}s'")
                    return bool(await session.fetchval(BUILD_ACTIVE, timeout=BUILD_SECONDS))
            except Exception as error:
                named = domain_error(error)
                if named is None:
                    raise
                raise named from error
