"""What a replacement does to the rows, and how two of them meet."""

import asyncio
from dataclasses import replace

import asyncpg
import numpy as np
import pytest

from services.common.errors import AbortedError, InvalidArgumentError, Reason
from services.common.postgres.connect import connection
from services.common.postgres.pool import Pool
from services.common.postgres.settings import DATABASE, Role
from services.ingest import statements
from services.ingest.model import PageText
from services.ingest.store import PostgresDocumentStore
from services.retrieval.model import VectorQuery
from services.retrieval.store import PostgresPassageStore
from tests.database.conftest import THRESHOLDS, activate, activate_space
from tests.database.samples import DIMENSIONS, MODEL, Sample, around, sample, vector
from tests.database.servers import Server

ROWS = """
SELECT 'chunk' AS kind, passage_id AS id, ctid::text AS place FROM attest.rag_docs WHERE tenant = $1
UNION ALL
SELECT 'vector', chunk_id::text, ctid::text FROM attest.embeddings_{space_id} WHERE tenant = $1
UNION ALL
SELECT 'text', page::text, ctid::text FROM attest.document_texts WHERE tenant = $1
ORDER BY 1, 2
"""

ROWS_OF_TENANT = """
SELECT (SELECT count(*) FROM attest.rag_docs WHERE tenant = $1),
  (SELECT count(*) FROM attest.documents WHERE tenant = $1),
  (SELECT count(*) FROM attest.document_texts WHERE tenant = $1),
  (SELECT count(*) FROM attest.embeddings_{space_id} WHERE tenant = $1),
  (SELECT coalesce(sum(chunks), 0)::int FROM attest.chunk_counts WHERE tenant = $1)
"""


@pytest.fixture(scope="module")
async def space_id(server: Server, documents: PostgresDocumentStore) -> int:
    return await activate(server, documents, MODEL, DIMENSIONS)


def two_chunks(tenant: str) -> Sample:
    return sample(tenant, ["one", "two"], [vector(1), vector(0, 1)])


async def rows(server: Server, tenant: str, space_id: int) -> list[asyncpg.Record]:
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        found: list[asyncpg.Record] = await superuser.fetch(ROWS.format(space_id=space_id), tenant)
        return found


async def counts(server: Server, tenant: str, space_id: int) -> tuple[int, ...]:
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        return tuple(await superuser.fetchrow(ROWS_OF_TENANT.format(space_id=space_id), tenant))


async def test_a_row_in_which_nothing_changed_is_not_written_again(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    made = two_chunks(tenant)
    await documents.replace(made.document, space_id, made.chunks, made.vectors)
    before = await rows(server, tenant, space_id)

    renamed = replace(made.document, title="Another title")
    replaced = await documents.replace(renamed, space_id, made.chunks, made.vectors)

    assert replaced.document.version == 2
    assert await rows(server, tenant, space_id) == before


async def test_a_chunk_that_only_moved_keeps_its_vector_row(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    made = two_chunks(tenant)
    await documents.replace(made.document, space_id, made.chunks, made.vectors)
    before = [row for row in await rows(server, tenant, space_id) if row["kind"] == "vector"]

    moved = {
        chunk_key: replace(
            chunk, ordinal=chunk.ordinal + 1, char_start=chunk.char_start + 9, char_end=chunk.char_end + 9
        )
        for chunk_key, chunk in made.chunks.items()
    }
    await documents.replace(made.document, space_id, moved, {})

    assert [row for row in await rows(server, tenant, space_id) if row["kind"] == "vector"] == before


async def test_nothing_of_a_dropped_chunk_or_page_stays(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    pages = (PageText(1, "one"), PageText(2, "two"))
    made = sample(tenant, ["one", "two"], [vector(1), vector(0, 1)], pages=pages)
    await documents.replace(made.document, space_id, made.chunks, made.vectors)
    assert await counts(server, tenant, space_id) == (2, 1, 2, 2, 2)

    less = sample(tenant, ["two"], [vector(0, 1)], pages=pages[:1])
    await documents.replace(less.document, space_id, less.chunks, {})

    assert await counts(server, tenant, space_id) == (1, 1, 1, 1, 1)


async def test_nothing_of_a_deleted_document_stays(
    server: Server, documents: PostgresDocumentStore, writer: Pool, space_id: int, tenant: str
) -> None:
    made = two_chunks(tenant)
    await documents.replace(made.document, space_id, made.chunks, made.vectors)

    async with writer.tenant(tenant) as session:
        await session.execute("DELETE FROM attest.documents")

    assert await counts(server, tenant, space_id) == (0, 0, 0, 0, 0)


async def test_a_replacement_that_fails_half_way_leaves_everything_as_it_was(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    made = two_chunks(tenant)
    await documents.replace(made.document, space_id, made.chunks, made.vectors)
    before = await rows(server, tenant, space_id)

    broken = sample(tenant, ["one", "three"], [vector(1), vector(1, dimensions=DIMENSIONS + 1)])
    with pytest.raises(asyncpg.PostgresError):
        await documents.replace(broken.document, space_id, broken.chunks, broken.vectors)

    assert await rows(server, tenant, space_id) == before
    stored = await documents.find(tenant, "default", "docs/one.md")
    assert stored is not None
    assert stored.version == 1


async def test_a_document_that_somebody_else_holds_is_busy_at_once(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    made = two_chunks(tenant)
    address = (made.document.tenant, made.document.lane, made.document.source_url)

    async with connection(server.role(Role.WRITER)) as other, other.transaction():
        assert await other.fetchval(statements.TRY_LOCK, *address)
        with pytest.raises(AbortedError) as caught:
            await documents.replace(made.document, space_id, made.chunks, made.vectors)

    assert caught.value.reason is Reason.DOCUMENT_BUSY


async def test_many_first_ingests_at_once_make_one_whole_document(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    made = two_chunks(tenant)
    calls = [documents.replace(made.document, space_id, made.chunks, made.vectors) for _ in range(8)]

    results = await asyncio.gather(*calls, return_exceptions=True)

    done = [result for result in results if not isinstance(result, BaseException)]
    failed = [result for result in results if isinstance(result, BaseException)]
    assert sorted(result.document.version for result in done) == list(range(1, len(done) + 1))
    assert done
    assert all(isinstance(error, AbortedError) and error.reason is Reason.DOCUMENT_BUSY for error in failed)
    assert await counts(server, tenant, space_id) == (2, 1, 1, 2, 2)


async def test_two_documents_of_one_tenant_are_ingested_at_once(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    several = [sample(tenant, ["one", "two"], [vector(1), vector(0, 1)], name=f"{n}.md") for n in range(4)]

    await asyncio.gather(*(documents.replace(m.document, space_id, m.chunks, m.vectors) for m in several))

    assert await counts(server, tenant, space_id) == (8, 4, 4, 8, 8)


async def test_the_same_model_asked_for_by_many_at_once_has_one_space(documents: PostgresDocumentStore) -> None:
    made = await asyncio.gather(*(documents.ensure_space("asked-at-once", 4, THRESHOLDS) for _ in range(4)))

    assert len(set(made)) == 1


async def test_too_many_dimensions_are_refused_before_anything_is_made(documents: PostgresDocumentStore) -> None:
    """F9."""
    with pytest.raises(InvalidArgumentError, match="1 to 4000 dimensions") as caught:
        await documents.ensure_space("too-large", 5000, THRESHOLDS)

    assert caught.value.reason is Reason.FIELD_OUT_OF_RANGE


async def test_a_space_of_3072_dimensions_is_indexed_in_half_precision(
    server: Server, documents: PostgresDocumentStore, passages: PostgresPassageStore, tenant: str
) -> None:
    """F9."""
    space_id = await activate(server, documents, "large", 3072)
    try:
        made = sample(tenant, ["one", "two"], [vector(1, dimensions=3072), vector(0, 1, dimensions=3072)])
        await documents.replace(made.document, space_id, made.chunks, made.vectors)
        question = np.full(3072, 0.001, dtype=np.float32)
        question[0] = 1

        found = await passages.search_vector(VectorQuery(tenant, space_id, question, (), 5, 0.5))
        async with connection(server.superuser.in_database(DATABASE)) as superuser:
            assert await superuser.fetchval("SELECT attest.build_vector_index($1, 0)", space_id)
            index = await superuser.fetchval(f"SELECT pg_get_indexdef('attest.embeddings_{space_id}_hnsw'::regclass)")
    finally:
        await activate(server, documents, MODEL, DIMENSIONS)

    assert [passage.content for passage in found] == ["one"]
    assert "halfvec_cosine_ops" in index


async def test_a_document_of_six_thousand_chunks_is_stored_whole(
    server: Server, documents: PostgresDocumentStore, passages: PostgresPassageStore, writer: Pool, tenant: str
) -> None:
    """F19: no statement has too many arguments; and a space without an index is searched all the same."""
    created = await writer.fetch("SELECT attest.create_embedding_space('unindexed', $1, 'exact')", DIMENSIONS)
    space_id = created[0][0]
    await activate_space(server, space_id)
    try:
        vectors = around(vector(1), 6000)
        made = sample(tenant, [f"text {number}" for number in range(6000)], vectors)
        replaced = await documents.replace(made.document, space_id, made.chunks, made.vectors)
        found = await passages.search_vector(VectorQuery(tenant, space_id, vectors[4711], (), 1, 0.9))
    finally:
        await activate(server, documents, MODEL, DIMENSIONS)

    assert replaced.chunks_added == 6000
    assert await counts(server, tenant, space_id) == (6000, 1, 1, 6000, 6000)
    assert [passage.content for passage in found] == ["text 4711"]
