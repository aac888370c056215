"""The vector index is built after the rows, by a writer who may build nothing else."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.common.errors import Reason, ResourceExhaustedError
from services.common.postgres.connect import connection
from services.common.postgres.pool import Pool
from services.common.postgres.settings import DATABASE, Role
from services.ingest.index_store import PostgresVectorIndex
from services.ingest.store import PostgresDocumentStore
from services.retrieval.model import VectorQuery
from services.retrieval.store import PostgresPassageStore
from tests.database.conftest import activate
from tests.database.samples import DIMENSIONS, MODEL, Sample, around, sample, vector
from tests.database.servers import Server

ROWS = 2_100
INDEXES = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'attest' AND indexname = $1"


@pytest.fixture
async def space_id(
    server: Server, documents: PostgresDocumentStore, request: pytest.FixtureRequest
) -> AsyncIterator[int]:
    """A new space, active for the length of the test."""
    yield await activate(server, documents, f"indexed-{request.node.name}"[:190], DIMENSIONS)
    await activate(server, documents, MODEL, DIMENSIONS)


@pytest.fixture
def index(server: Server, writer: Pool) -> PostgresVectorIndex:
    return PostgresVectorIndex(writer, server.role(Role.WRITER))


def load(tenant: str, rows: int = ROWS) -> Sample:
    return sample(tenant, [f"text {number}" for number in range(rows)], around(vector(1), rows))


async def has_index(server: Server, space_id: int) -> bool:
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        return bool(await superuser.fetchval(INDEXES, f"embeddings_{space_id}_hnsw"))


async def put(documents: PostgresDocumentStore, space_id: int, made: Sample) -> None:
    await documents.replace(made.document, space_id, made.chunks, made.vectors)


async def test_few_rows_are_due_no_index(
    server: Server, documents: PostgresDocumentStore, index: PostgresVectorIndex, space_id: int, tenant: str
) -> None:
    await put(documents, space_id, load(tenant, 50))

    assert await index.due_size() is None
    assert not await index.build()
    assert not await has_index(server, space_id)


async def test_a_load_is_found_before_and_after_the_index_is_built(
    server: Server,
    documents: PostgresDocumentStore,
    passages: PostgresPassageStore,
    index: PostgresVectorIndex,
    space_id: int,
    tenant: str,
) -> None:
    await put(documents, space_id, load(tenant))
    query = VectorQuery(tenant, space_id, vector(1, 0.1), (), 10, -1.0)
    before = [passage.content for passage in await passages.search_vector(query)]
    assert not await has_index(server, space_id)
    assert (await index.due_size() or 0) > ROWS * DIMENSIONS * 4

    assert await index.build()

    after = [passage.content for passage in await passages.search_vector(query)]
    assert await has_index(server, space_id)
    assert (len(before), after) == (10, before)
    assert await index.due_size() is None
    assert not await index.build()


async def test_writes_under_way_are_not_waited_for(
    server: Server, documents: PostgresDocumentStore, index: PostgresVectorIndex, space_id: int, tenant: str
) -> None:
    await put(documents, space_id, load(tenant))
    async with connection(server.superuser.in_database(DATABASE)) as other, other.transaction():
        await other.execute(f"LOCK TABLE attest.embeddings_{space_id} IN ROW EXCLUSIVE MODE")
        with pytest.raises(ResourceExhaustedError) as caught:
            await index.build()

    assert caught.value.reason is Reason.SERVICE_BUSY
    assert await index.build()


async def test_two_who_build_at_once_build_it_once(
    server: Server, documents: PostgresDocumentStore, index: PostgresVectorIndex, space_id: int, tenant: str
) -> None:
    await put(documents, space_id, load(tenant))

    built = await asyncio.gather(index.build(), index.build(), index.build())

    assert sorted(built) == [False, False, True]
    assert await has_index(server, space_id)


async def test_a_writer_can_build_no_index_of_its_own(writer: Pool, space_id: int) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await writer.fetch(f"CREATE INDEX ON attest.embeddings_{space_id} (lane)")
