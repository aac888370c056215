"""The audit finds whatever is half there, left over or misquoted, and nothing in a library that is whole."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from services.common.postgres.audit import MISQUOTED, Audit, AuditError, audit
from services.common.postgres.connect import connection
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.settings import DATABASE, Role
from services.ingest.store import PostgresDocumentStore
from services.ingest.vector_cache import PostgresVectorCache
from tests.database.conftest import activate, plenty
from tests.database.samples import DIMENSIONS, MODEL, sample, vector
from tests.database.servers import Server, new_server

TEXTS = ["The hive has 25 frames.", "Honig wird im Juli geerntet \U0001f41d.", "Bees rest."]
# Constraints that make a fault impossible are taken out of its way: the audit must see it all the same.
UNGUARDED = "SET LOCAL session_replication_role = replica; "


@dataclass
class Audited:
    """A library with one document, and its audit."""

    server: Server

    async def execute(self, statement: str) -> None:
        async with connection(self.server.superuser.in_database(DATABASE)) as opened, opened.transaction():
            await opened.execute(UNGUARDED + statement)

    async def audit(self) -> Audit:
        return await audit(self.server.superuser.in_database(DATABASE))


@pytest.fixture(scope="module")
async def own_server() -> AsyncIterator[Server]:
    """Run a server that holds nothing but what these tests store."""
    async with new_server() as made, made.running():
        await made.migrate()
        yield made


@pytest.fixture
async def library(own_server: Server) -> AsyncIterator[Audited]:
    """Store one document, with an ingest of another under way; take both away in the end."""
    limits = PoolLimits(connections=2, command_s=60)
    async with open_pool(own_server.role(Role.WRITER), limits, plenty) as writer:
        store, cache = PostgresDocumentStore(writer), PostgresVectorCache(writer)
        space_id = await activate(own_server, store, MODEL, DIMENSIONS)
        made = sample("apiary", TEXTS, [vector(1, n) for n in range(len(TEXTS))])
        await store.replace(made.document, space_id, made.chunks, made.vectors)
        await cache.put("apiary", "f" * 32, space_id, made.vectors)
        yield Audited(own_server)
        async with connection(own_server.superuser.in_database(DATABASE)) as opened:
            await opened.execute("TRUNCATE attest.documents, attest.chunk_counts, attest.embedding_cache CASCADE")


async def test_a_library_with_an_ingest_under_way_is_whole(library: Audited) -> None:
    done = await library.audit()

    assert (done.documents, done.chunks, done.findings) == (1, 3, ())


FAULTS = {
    "a document has not the text that it counts": "DELETE FROM attest.document_texts",
    "a document has not the passages that it counts": "DELETE FROM attest.rag_docs WHERE ordinal = 1",
    "a text belongs to no document": "DELETE FROM attest.documents",
    "a passage belongs to no document, or to one of another lane": "UPDATE attest.rag_docs SET lane = 'other'",
    "the passages of a lane are miscounted": "UPDATE attest.chunk_counts SET chunks = 4",
    "a vector waits for a document that is stored with it, or for more than two days": (
        "UPDATE attest.embedding_cache SET created_at = now() - interval '3 days'"
    ),
    "not one embedding space is active, though there are some": "UPDATE attest.embedding_spaces SET state = 'INACTIVE'",
    "a vector belongs to no passage, or to one of another place": "UPDATE attest.embeddings_1 SET tenant = 'other'",
    "a passage has no vector in the space of its document": "DELETE FROM attest.embeddings_1 WHERE chunk_id % 2 = 0",
    MISQUOTED: "UPDATE attest.rag_docs SET char_start = char_start + 1, char_end = char_end + 1 WHERE ordinal = 1",
}


@pytest.mark.parametrize("what", FAULTS)
async def test_a_fault_is_found_and_its_place_named(library: Audited, what: str) -> None:
    await library.execute(FAULTS[what])
    done = await library.audit()

    [finding] = [finding for finding in done.findings if finding.what == what]
    assert finding.count >= 1
    assert finding.examples[0][0] in ("apiary", "ACTIVE", "INACTIVE", "other")


async def test_vectors_that_a_stored_document_left_behind_are_found(library: Audited) -> None:
    await library.execute(
        "UPDATE attest.embedding_cache SET created_at = now() - interval '1 hour', "
        "document_id = (SELECT document_id FROM attest.documents)"
    )

    assert [finding.count for finding in (await library.audit()).findings] == [3]


async def test_of_many_faults_some_are_named_and_all_are_counted(library: Audited) -> None:
    await library.execute(
        "INSERT INTO attest.document_texts (tenant, document_id, page, version, text) "
        "SELECT 'lost', 'd' || n, 0, 1, 'text' FROM generate_series(1, 900) n"
    )
    [finding] = (await library.audit()).findings

    assert (finding.count, len(finding.examples)) == (900, 5)


async def test_a_role_that_sees_one_tenant_cannot_call_a_library_whole(own_server: Server) -> None:
    with pytest.raises(AuditError, match="BYPASSRLS"):
        await audit(own_server.role(Role.OWNER))
