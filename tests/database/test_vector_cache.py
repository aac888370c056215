"""The contract of both vector caches, kept by the fake and by Postgres alike; and what only a database can do."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from services.common.postgres.connect import connection
from services.common.postgres.pool import Pool
from services.common.postgres.settings import DATABASE
from services.ingest.document_store import PostgresLibraryStore
from services.ingest.model import EmbeddedVector
from services.ingest.ports import DocumentStore, LibraryStore, VectorCache
from services.ingest.store import PostgresDocumentStore
from services.ingest.vector_cache import PostgresVectorCache
from tests.database.conftest import activate
from tests.database.samples import DIMENSIONS, MODEL, key, sample, vector
from tests.database.servers import Server
from tests.fakes.library import FakeDocumentStore, FakeLibraryStore, FakeVectorCache, Library

MAKE_OLD = "UPDATE attest.embedding_cache SET created_at = now() - interval '25 hours' WHERE tenant = $1"

COUNT = "SELECT count(*) FROM attest.embedding_cache WHERE tenant = $1"


@dataclass
class Caches:
    """A cache, and the stores that empty it."""

    cache: VectorCache
    documents: DocumentStore
    library: LibraryStore
    space_id: int
    tenant: str

    async def get(self, *keys: str, name: str = "one.md", tenant: str = "", space_id: int = 0) -> dict[str, float]:
        owner = tenant or self.tenant
        found = await self.cache.get(owner, key(self.tenant, name), space_id or self.space_id, keys)
        return {kept: float(embedded.vector[0]) for kept, embedded in found.items()}

    async def put(self, vectors: Mapping[str, EmbeddedVector], name: str = "one.md") -> None:
        await self.cache.put(self.tenant, key(self.tenant, name), self.space_id, vectors)


@pytest.fixture(params=["fake", "postgres"])
async def caches(
    request: pytest.FixtureRequest, server: Server, writer: Pool, documents: PostgresDocumentStore, tenant: str
) -> Caches:
    if request.param == "postgres":
        space_id = await activate(server, documents, MODEL, DIMENSIONS)
        return Caches(PostgresVectorCache(writer), documents, PostgresLibraryStore(writer), space_id, tenant)
    library = Library()
    space_id = library.activate(MODEL, DIMENSIONS)
    stores = FakeDocumentStore(library), FakeLibraryStore(library)
    return Caches(FakeVectorCache(library), *stores, space_id, tenant)


def embedded(*values: float) -> EmbeddedVector:
    return EmbeddedVector(vector(*values), b"\x01")


ONE, TWO = key("one"), key("two")


async def test_what_was_put_is_found_as_it_was_given(caches: Caches) -> None:
    await caches.put({ONE: embedded(0.25, 0.5)})

    found = await caches.cache.get(caches.tenant, key(caches.tenant, "one.md"), caches.space_id, [ONE, TWO])

    assert set(found) == {ONE}
    np.testing.assert_array_equal(found[ONE].vector, vector(0.25, 0.5))
    assert found[ONE].sentence_vectors == b"\x01"


async def test_the_first_vector_of_a_chunk_stays(caches: Caches) -> None:
    await caches.put({ONE: embedded(1)})
    await caches.put({ONE: embedded(2), TWO: embedded(3)})

    assert await caches.get(ONE, TWO) == {ONE: 1, TWO: 3}


async def test_a_vector_is_for_one_document_one_space_and_one_tenant(caches: Caches) -> None:
    await caches.put({ONE: embedded(1)})

    assert await caches.get(ONE, name="two.md") == {}
    assert await caches.get(ONE, space_id=caches.space_id + 1) == {}
    assert await caches.get(ONE, tenant=f"{caches.tenant}-other") == {}


async def test_a_replacement_empties_the_cache_of_its_document_only(caches: Caches) -> None:
    await caches.put({ONE: embedded(1)})
    await caches.put({TWO: embedded(2)}, name="two.md")

    made = sample(caches.tenant, ["text"], [vector(1)])
    await caches.documents.replace(made.document, caches.space_id, made.chunks, made.vectors)

    assert await caches.get(ONE) == {}
    assert await caches.get(TWO, name="two.md") == {TWO: 2}


async def test_a_deletion_empties_the_cache_of_its_document(caches: Caches) -> None:
    made = sample(caches.tenant, ["text"], [vector(1)])
    await caches.documents.replace(made.document, caches.space_id, made.chunks, made.vectors)
    await caches.put({ONE: embedded(1)})

    await caches.library.delete(caches.tenant, made.document.document_id)

    assert await caches.get(ONE) == {}


async def test_what_is_older_than_a_day_is_swept_by_whoever_comes_next(
    server: Server, writer: Pool, documents: PostgresDocumentStore, tenant: str
) -> None:
    space_id = await activate(server, documents, MODEL, DIMENSIONS)
    cache = PostgresVectorCache(writer)
    await cache.put(tenant, "old", space_id, {ONE: embedded(1)})
    await cache.put(f"{tenant}-fresh", "fresh", space_id, {ONE: embedded(1)})
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        await superuser.execute(MAKE_OLD, tenant)

        await cache.put(f"{tenant}-other", "new", space_id, {ONE: embedded(1)})

        assert await superuser.fetchval(COUNT, tenant) == 0
        assert await superuser.fetchval(COUNT, f"{tenant}-fresh") == 1
