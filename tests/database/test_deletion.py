"""That a deletion leaves nothing, what it meets on its way, and how lists are read."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.common.errors import AbortedError, NotFoundError, Reason
from services.common.postgres.connect import connection
from services.common.postgres.pool import Pool
from services.common.postgres.settings import DATABASE, Role
from services.ingest import statements
from services.ingest.document_store import PostgresLibraryStore
from services.ingest.library import Library
from services.ingest.model import StoredDocument
from services.ingest.store import PostgresDocumentStore
from tests.database.conftest import activate
from tests.database.samples import DIMENSIONS, MODEL, sample, vector
from tests.database.servers import Server

TABLES_OF_DOCUMENTS = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind IN ('r', 'p', 'm') AND a.attname = 'document_id'
"""

MANY_DOCUMENTS = """
INSERT INTO attest.documents (
  tenant, document_id, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, chunk_count, updated_at
)
SELECT $1, md5($1 || n), CASE n % 10 WHEN 0 THEN 'rare-lane' ELSE 'default' END, 'many/' || n,
  '', 'text/plain', 1, sha256(''), sha256(''), $2, 1, 0,
  timestamptz '2026-01-01' + n / 3 * interval '1 second'
FROM generate_series(1, $3::int) n
"""


RARE_LANE = """
INSERT INTO attest.lanes (name, chunk_tokens, overlap_tokens) VALUES ('rare-lane', 100, 10) ON CONFLICT DO NOTHING
"""


@pytest.fixture(scope="module")
async def space_id(server: Server, documents: PostgresDocumentStore) -> int:
    async with connection(server.superuser.in_database(DATABASE)) as session:
        await session.execute(RARE_LANE)
    return await activate(server, documents, MODEL, DIMENSIONS)


@pytest.fixture
def library(writer: Pool) -> PostgresLibraryStore:
    return PostgresLibraryStore(writer)


@pytest.fixture
async def superuser(server: Server) -> AsyncIterator[asyncpg.Connection]:
    async with connection(server.superuser.in_database(DATABASE)) as session:
        yield session


async def put(documents: PostgresDocumentStore, space_id: int, tenant: str, name: str = "one.md") -> StoredDocument:
    made = sample(tenant, ["one", "two"], [vector(1), vector(0, 1)], name=name)
    return (await documents.replace(made.document, space_id, made.chunks, made.vectors)).document


async def rows_by_table(superuser: asyncpg.Connection, document_id: str) -> dict[str, int]:
    """Count the rows of one document in every table that can hold some."""
    tables = [row["relname"] for row in await superuser.fetch(TABLES_OF_DOCUMENTS)]
    counts = {}
    for table in tables:
        query = f'SELECT count(*) FROM attest."{table}" WHERE document_id = $1'  # noqa: S608  # a name of the catalogue
        counts[table] = await superuser.fetchval(query, document_id)
    return counts


async def test_no_table_keeps_a_row_of_a_deleted_document(
    superuser: asyncpg.Connection,
    documents: PostgresDocumentStore,
    library: PostgresLibraryStore,
    space_id: int,
    tenant: str,
) -> None:
    """Also in tables that a later migration adds."""
    kept, gone = await put(documents, space_id, tenant), await put(documents, space_id, tenant, "two.md")
    before = await rows_by_table(superuser, kept.document_id)
    assert before["documents"] == before["document_texts"] == 1
    assert before["rag_docs"] == before[f"embeddings_{space_id}"] == 2

    await library.delete(tenant, gone.document_id)

    assert set((await rows_by_table(superuser, gone.document_id)).values()) == {0}
    assert await rows_by_table(superuser, kept.document_id) == before
    chunks = await superuser.fetchval("SELECT sum(chunks) FROM attest.chunk_counts WHERE tenant = $1", tenant)
    assert chunks == 2


async def test_a_document_that_is_being_written_is_busy_at_once_and_whole(
    server: Server, documents: PostgresDocumentStore, library: PostgresLibraryStore, space_id: int, tenant: str
) -> None:
    stored = await put(documents, space_id, tenant)
    async with connection(server.role(Role.WRITER)) as other, other.transaction():
        assert await other.fetchval(statements.TRY_LOCK, tenant, stored.lane, stored.source_url)

        with pytest.raises(AbortedError) as caught:
            await library.delete(tenant, stored.document_id)

    assert caught.value.reason is Reason.DOCUMENT_BUSY
    assert await library.document(tenant, stored.document_id) == stored


async def test_of_many_deletions_at_once_one_has_the_receipt(
    documents: PostgresDocumentStore, library: PostgresLibraryStore, space_id: int, tenant: str
) -> None:
    stored = await put(documents, space_id, tenant)

    results = await asyncio.gather(
        *(library.delete(tenant, stored.document_id) for _ in range(8)), return_exceptions=True
    )

    receipts = [result for result in results if not isinstance(result, BaseException)]
    assert [(receipt.chunks, receipt.vectors) for receipt in receipts] == [(2, 2)]
    assert all(isinstance(result, AbortedError | NotFoundError) for result in results if result not in receipts)


async def test_ingests_and_deletions_that_meet_leave_all_or_nothing(
    superuser: asyncpg.Connection,
    documents: PostgresDocumentStore,
    library: PostgresLibraryStore,
    space_id: int,
    tenant: str,
) -> None:
    stored = await put(documents, space_id, tenant)
    for _ in range(10):
        calls = [put(documents, space_id, tenant), library.delete(tenant, stored.document_id)]
        await asyncio.gather(*calls, return_exceptions=True)

        counts = await rows_by_table(superuser, stored.document_id)
        assert (counts["documents"], counts["rag_docs"], counts[f"embeddings_{space_id}"]) in {(1, 2, 2), (0, 0, 0)}


async def test_documents_of_one_moment_are_listed_once_each(
    superuser: asyncpg.Connection, library: PostgresLibraryStore, space_id: int, tenant: str
) -> None:
    """Three and three have the same time: the id decides."""
    await superuser.execute(MANY_DOCUMENTS, tenant, space_id, 250)
    seen: list[str] = []
    token = ""
    while True:
        page = await Library(library).documents(tenant, "", 7, token)
        seen += [document.document_id for document in page.documents]
        token = page.next_page_token
        if not token:
            break

    expected = await superuser.fetch(
        "SELECT document_id FROM attest.documents WHERE tenant = $1 ORDER BY updated_at DESC, document_id DESC", tenant
    )
    assert seen == [row["document_id"] for row in expected]
    assert len(seen) == 250


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("after", ["'9999-01-01'", "'2026-01-01 00:10:00+00'"])
@pytest.mark.parametrize(
    ("query", "index", "lane"),
    [
        (statements.LIST_DOCUMENTS, "documents_by_time", ""),
        (statements.LIST_DOCUMENTS_OF_LANE, "documents_by_lane", ", 'rare-lane'"),
    ],
)
async def test_a_page_is_read_from_its_index_and_nothing_more(
    superuser: asyncpg.Connection,
    space_id: int,
    tenant: str,
    query: str,
    index: str,
    lane: str,
    after: str,
    mode: str,
) -> None:
    """As the writer, under its policies: no sort, and no row is read that is not on the page."""
    for owner in (tenant, tenant + "-other"):
        await superuser.execute(MANY_DOCUMENTS, owner, space_id, 3000)
    await superuser.execute("ANALYZE attest.documents")
    prepare = f"PREPARE page (text, timestamptz, text, int, text{lane and ', text'}) AS {query}"
    execute = f"EXECUTE page ('{tenant}', {after}, '{'f' * 32}', 51, ''{lane})"
    async with superuser.transaction():
        await superuser.execute(f"SET LOCAL ROLE attest_writer; SET LOCAL plan_cache_mode = {mode}")
        await superuser.execute("SELECT set_config('attest.tenant', $1, true)", tenant)
        await superuser.execute(prepare)
        rows = await superuser.fetch(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) {execute}")
        await superuser.execute("DEALLOCATE page")
    plan = "\n".join(row[0] for row in rows)

    assert f"Index Scan Backward using {index}" in plan
    (condition,) = [line for line in plan.splitlines() if "Index Cond" in line]
    assert "(tenant = " in condition
    assert "(ROW(updated_at, document_id) < " in condition
    assert "Sort" not in plan
    assert "Rows Removed" not in plan
    await superuser.execute("DELETE FROM attest.documents WHERE tenant LIKE $1", tenant + "%")
