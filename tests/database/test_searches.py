"""How the product's own search runs, as the reader, on a few thousand rows of several tenants."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg
import numpy as np
import pytest

from services.common.errors import InvalidArgumentError, Reason
from services.common.postgres.codecs import encode_vector, register_codecs
from services.common.postgres.connect import connection
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.settings import DATABASE, Role
from services.ingest.model import Vector
from services.ingest.store import PostgresDocumentStore
from services.retrieval.model import Passage, VectorQuery
from services.retrieval.store import SEARCH_VECTOR, PostgresPassageStore
from tests.database.conftest import activate, plenty
from tests.database.samples import DIMENSIONS, MODEL, around, sample, vector
from tests.database.servers import Server

LARGE, OTHER, SMALL = "crowd-large", "crowd-other", "crowd-small"
HERE, FAR = vector(1), vector(-1)

UNCOMMON_SCAN = """
SELECT count(*) FROM (
  SELECT chunk_id FROM attest.embeddings_{space_id} ORDER BY embedding OPERATOR(ext.<=>) $1 LIMIT 10
) found
"""

EXPLAIN_SETTINGS = """
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET auto_explain.log_analyze = on;
SET auto_explain.log_level = notice;
SET ROLE attest_reader
"""


@dataclass(frozen=True)
class Crowd:
    """Tenants in one space: a large one near the question, another and a small one far from it."""

    space_id: int
    vectors: dict[str, list[Vector]]


@pytest.fixture(scope="module")
async def crowd(server: Server, documents: PostgresDocumentStore) -> Crowd:
    space_id = await activate(server, documents, MODEL, DIMENSIONS)
    vectors = {LARGE: around(HERE, 3000), OTHER: around(FAR, 2050), SMALL: around(FAR, 50)}
    for tenant, some in vectors.items():
        made = sample(tenant, [f"text {number}" for number in range(len(some))], some)
        await documents.replace(made.document, space_id, made.chunks, made.vectors)
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        await superuser.execute("ANALYZE")
        await superuser.fetchval("SELECT attest.build_vector_index($1)", space_id)
    return Crowd(space_id, vectors)


def question(crowd: Crowd, tenant: str, top_k: int = 10, min_similarity: float = -1.0) -> VectorQuery:
    return VectorQuery(tenant, crowd.space_id, HERE, (), top_k, min_similarity)


async def explained(server: Server, query: VectorQuery, before: Sequence[VectorQuery] = ()) -> str:
    """Run the product's statement as the reader and return the plans of all statements inside.

    The searches `before` are run in the same session and not explained.
    """
    plans: list[str] = []
    async with connection(server.superuser.in_database(DATABASE)) as session:
        await register_codecs(session)
        await session.execute(EXPLAIN_SETTINGS)
        for earlier in before:
            await _run(session, earlier)
        session.add_log_listener(lambda _, message: plans.append(message.message))
        await _run(session, query)
    return "\n".join(plans)


async def _run(session: asyncpg.Connection, query: VectorQuery) -> None:
    arguments: tuple[Any, ...] = (query.tenant, query.space_id, query.vector, [], query.top_k, query.min_similarity)
    await session.fetch(SEARCH_VECTOR, *arguments)


def best_of(vectors: list[Vector], count: int) -> set[str]:
    stacked = np.stack(vectors)
    similarity = stacked @ HERE / np.linalg.norm(stacked, axis=1)
    return {f"text {number}" for number in np.argsort(-similarity)[:count]}


def contents(found: list[Passage]) -> set[str]:
    return {passage.content for passage in found}


async def test_a_large_tenant_is_searched_through_the_index(server: Server, crowd: Crowd) -> None:
    """F12: the index is there and is used, by the reader, under row-level security."""
    plan = await explained(server, question(crowd, LARGE))

    assert f"Index Scan using embeddings_{crowd.space_id}_hnsw" in plan


async def test_a_session_that_served_a_small_tenant_serves_a_large_one_by_the_indexes(
    server: Server, crowd: Crowd
) -> None:
    """The plan that the first tenant left must not be the plan of the next."""
    plan = await explained(server, question(crowd, LARGE), before=[question(crowd, SMALL)] * 12)

    assert f"Index Scan using embeddings_{crowd.space_id}_hnsw" in plan
    assert "Index Scan using rag_docs_pk" in plan
    assert "Seq Scan on rag_docs" not in plan


async def test_a_small_tenant_is_searched_without_the_vector_index(server: Server, crowd: Crowd) -> None:
    plan = await explained(server, question(crowd, SMALL))

    assert "_hnsw" not in plan
    assert f"embeddings_{crowd.space_id}_by_lane" in plan


async def test_the_index_finds_what_a_comparison_with_all_rows_finds(
    passages: PostgresPassageStore, crowd: Crowd
) -> None:
    found = list(await passages.search_vector(question(crowd, LARGE, top_k=100)))

    assert len(contents(found) & best_of(crowd.vectors[LARGE], 100)) >= 95


async def test_a_tenant_far_from_the_question_gets_its_full_list(passages: PostgresPassageStore, crowd: Crowd) -> None:
    """F1: the nearest rows of the index are all somebody else's."""
    found = list(await passages.search_vector(question(crowd, OTHER)))

    assert len(found) == 10
    assert contents(found) <= best_of(crowd.vectors[OTHER], 20)


async def test_a_small_tenant_far_from_the_question_gets_exactly_its_closest(
    passages: PostgresPassageStore, crowd: Crowd
) -> None:
    """F1."""
    found = list(await passages.search_vector(question(crowd, SMALL)))

    assert contents(found) == best_of(crowd.vectors[SMALL], 10)


async def test_without_iterative_scans_the_same_tenant_gets_nothing(server: Server, crowd: Crowd) -> None:
    """F1: the fault is there when the product does nothing against it."""
    async with connection(server.role(Role.READER)) as reader, reader.transaction():
        await register_codecs(reader)
        await reader.execute(f"SET LOCAL attest.tenant = '{OTHER}'; SET LOCAL enable_sort = off")
        found = await reader.fetchval(UNCOMMON_SCAN.format(space_id=crowd.space_id), encode_vector(HERE))

    assert found == 0


async def test_a_threshold_that_nothing_reaches_does_not_walk_the_index(server: Server, crowd: Crowd) -> None:
    """F3: the threshold stands outside the indexed search."""
    plan = await explained(server, question(crowd, LARGE, min_similarity=1.0))

    scanned = [line for line in plan.splitlines() if "Rows Removed by Filter" in line]
    assert "_hnsw" in plan
    assert all(int(line.rsplit(":", 1)[1]) < 1000 for line in scanned), scanned


async def test_a_threshold_that_nothing_reaches_gives_nothing(passages: PostgresPassageStore, crowd: Crowd) -> None:
    assert list(await passages.search_vector(question(crowd, LARGE, min_similarity=1.0))) == []


@pytest.mark.parametrize("top_k", [41, 100, 1000])
@pytest.mark.parametrize("tenant", [LARGE, OTHER])
async def test_a_long_list_is_whole_and_in_order(
    passages: PostgresPassageStore, crowd: Crowd, tenant: str, top_k: int
) -> None:
    """F6 and F4: `ef_search` neither cuts the list nor fails, and similarity never rises."""
    found = list(await passages.search_vector(question(crowd, tenant, top_k=top_k)))

    similarities = [passage.similarity for passage in found]
    assert len(found) == top_k
    assert similarities == sorted(similarities, reverse=True)


async def test_a_list_longer_than_the_maximum_is_refused(passages: PostgresPassageStore, crowd: Crowd) -> None:
    """F6."""
    with pytest.raises(InvalidArgumentError) as caught:
        await passages.search_vector(question(crowd, LARGE, top_k=1001))

    assert caught.value.reason is Reason.FIELD_OUT_OF_RANGE


async def test_a_connection_keeps_nothing_of_a_search_and_the_next_search_is_as_good(
    server: Server, crowd: Crowd
) -> None:
    """F5: settings live in the statement's own transaction, whatever the pool does between."""
    limits = PoolLimits(connections=1)
    async with open_pool(server.role(Role.READER), limits, plenty) as pool:
        store = PostgresPassageStore(pool)
        for _ in range(2):
            assert len(await store.search_vector(question(crowd, LARGE, top_k=100))) == 100
            async with pool.connection() as session:
                assert await session.fetchval("SELECT current_setting('attest.tenant', true)") == ""
                assert await session.fetchval("SHOW hnsw.ef_search") == "40"
                assert await session.fetchval("SHOW hnsw.iterative_scan") == "off"
                assert await session.fetchval("SELECT count(*) FROM attest.rag_docs") == 0


async def test_a_search_is_one_round_trip(server: Server, crowd: Crowd) -> None:
    statements: list[str] = []

    def listen(record: asyncpg.connection.LoggedQuery) -> None:
        statements.append(record.query)

    async with open_pool(server.role(Role.READER), PoolLimits(connections=1), plenty) as pool:
        async with pool.connection() as session:
            session.add_query_logger(listen)
        await PostgresPassageStore(pool).search_vector(question(crowd, LARGE))
        async with pool.connection() as session:
            session.remove_query_logger(listen)

    assert statements == [SEARCH_VECTOR]


async def test_many_searches_at_once_share_a_small_pool(passages: PostgresPassageStore, crowd: Crowd) -> None:
    """F27: one connection is never used by two."""
    tenants = [LARGE, OTHER, SMALL] * 16
    found = await asyncio.gather(*(passages.search_vector(question(crowd, tenant)) for tenant in tenants))

    for tenant, some in zip(tenants, found, strict=True):
        assert len(some) == 10
        assert contents(list(some)) <= best_of(crowd.vectors[tenant], 20)


async def test_the_counts_that_choose_the_way_are_right(server: Server, crowd: Crowd) -> None:
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        counted = await superuser.fetch(
            "SELECT tenant, count(*) AS chunks FROM attest.rag_docs GROUP BY tenant ORDER BY tenant"
        )
        kept = await superuser.fetch(
            "SELECT tenant, sum(chunks)::bigint AS chunks FROM attest.chunk_counts"
            " GROUP BY tenant HAVING sum(chunks) > 0 ORDER BY tenant"
        )

    assert [tuple(row) for row in kept] == [tuple(row) for row in counted]


async def test_a_zero_vector_is_near_nothing(passages: PostgresPassageStore, crowd: Crowd) -> None:
    query = VectorQuery(SMALL, crowd.space_id, vector(0), (), 10, -1.0)

    assert list(await passages.search_vector(query)) == []


async def test_an_unlogged_error_of_the_search_keeps_its_sqlstate(server: Server, crowd: Crowd) -> None:
    async with connection(server.role(Role.READER)) as reader:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await reader.fetch("SELECT * FROM attest.search_vector('t', 0, '[1]', NULL, 5, 0)")

    assert caught.value.sqlstate == "AT002"
