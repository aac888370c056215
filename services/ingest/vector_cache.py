"""The vector cache in Postgres, as the writer role sees it."""

from collections.abc import Mapping, Sequence

from services.common.postgres.codecs import encode_vector
from services.common.postgres.pool import Pool
from services.ingest import statements
from services.ingest.batches import batches, lists
from services.ingest.model import EmbeddedVector

_BATCH = 500
"""Vectors per statement."""


class PostgresVectorCache:
    """Keeps vectors beside the documents, each call inside one tenant."""

    def __init__(self, pool: Pool) -> None:
        """Use a pool of the writer role."""
        self._pool = pool

    async def get(
        self, tenant: str, document_id: str, space_id: int, keys: Sequence[str]
    ) -> Mapping[str, EmbeddedVector]:
        """Return those vectors of chunk `keys` that an earlier ingest of the document put here."""
        found: dict[str, EmbeddedVector] = {}
        async with self._pool.tenant(tenant) as connection:
            for some in lists(keys, _BATCH):
                for row in await connection.fetch(statements.GET_CACHED, tenant, document_id, space_id, some):
                    found[row["passage_id"]] = EmbeddedVector(row["embedding"], row["sentence_vectors"])
        return found

    async def put(self, tenant: str, document_id: str, space_id: int, vectors: Mapping[str, EmbeddedVector]) -> None:
        """Keep the vectors for the next ingest of the document; what is older than a day goes, whoever put it."""
        async with self._pool.tenant(tenant) as connection:
            await connection.execute(statements.SWEEP_CACHE)
            for some in batches(vectors, _BATCH):
                await connection.execute(
                    statements.PUT_CACHED,
                    tenant,
                    document_id,
                    space_id,
                    list(some),
                    [encode_vector(embedded.vector) for embedded in some.values()],
                    [embedded.sentence_vectors for embedded in some.values()],
                )
