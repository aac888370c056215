"""Walks every table and function of the schema: what a later migration adds is under the same rules (F20)."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.common.postgres.connect import connection
from services.common.postgres.settings import DATABASE, Role
from services.ingest.store import PostgresDocumentStore
from tests.database.conftest import activate
from tests.database.samples import DIMENSIONS, MODEL, sample, vector
from tests.database.servers import Server

GLOBAL_TABLES = {"lanes", "embedding_spaces", "schema_migrations", "api_keys"}
"""Tables whose rows belong to no tenant or, as the keys, are looked up to find it."""

TABLE_RIGHTS = {
    "api_keys": {"attest_auth": {"SELECT"}},
    "chunk_counts": {"attest_reader": {"SELECT"}, "attest_writer": {"SELECT", "INSERT", "UPDATE"}},
    "document_texts": {
        "attest_reader": {"SELECT"},
        "attest_writer": {"SELECT", "INSERT", "UPDATE", "DELETE"},
    },
    "documents": {"attest_reader": {"SELECT"}, "attest_writer": {"SELECT", "INSERT", "UPDATE", "DELETE"}},
    "embedding_cache": {"attest_writer": {"SELECT", "INSERT", "DELETE"}},
    "embedding_spaces": {"attest_reader": {"SELECT"}, "attest_writer": {"SELECT"}},
    "embeddings": {"attest_reader": {"SELECT"}, "attest_writer": {"SELECT", "INSERT", "UPDATE", "DELETE"}},
    "lanes": {"attest_reader": {"SELECT"}, "attest_writer": {"SELECT"}},
    "rag_docs": {"attest_reader": {"SELECT"}, "attest_writer": {"SELECT", "INSERT", "UPDATE", "DELETE"}},
    "schema_migrations": {"attest_auth": {"SELECT"}, "attest_reader": {"SELECT"}, "attest_writer": {"SELECT"}},
}

FUNCTION_RIGHTS = {
    "build_vector_index": {"attest_writer"},
    "count_chunks": set(),
    "create_embedding_space": {"attest_writer"},
    "empty_embedding_cache": set(),
    "match_documents": {"attest_reader"},
    "nearest_chunks": {"attest_reader"},
    "put_lane": {"attest_writer"},
    "search_vector": {"attest_reader"},
    "separate_tenants": set(),
    "set_thresholds": {"attest_writer"},
    "sweep_embedding_cache": {"attest_writer"},
    "vector_index_is_due": {"attest_writer"},
}

DEFINERS = {"build_vector_index", "create_embedding_space", "put_lane", "set_thresholds", "sweep_embedding_cache"}
"""Functions that run with the owner's rights; each is a door and needs a reason."""

FIXED_PATHS = {"search_path=pg_catalog, pg_temp", "search_path=pg_catalog, ext, pg_temp"}

TABLES = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_get_userbyid(c.relowner) AS owner
FROM pg_class c
WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY c.relname
"""

TABLE_GRANTS = """
SELECT c.relname, CASE a.grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(a.grantee) END AS grantee, a.privilege_type
FROM pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.grantee <> c.relowner
"""

COLUMN_GRANTS = """
SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'attest'::regnamespace AND a.attacl IS NOT NULL
"""

SEQUENCE_GRANTS = """
SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind = 'S' AND a.grantee <> c.relowner
"""

FUNCTIONS = """
SELECT p.oid::regprocedure::text AS signature, p.proname, p.prosecdef, pg_get_userbyid(p.proowner) AS owner,
  coalesce(p.proconfig, '{}') AS settings
FROM pg_proc p WHERE p.pronamespace = 'attest'::regnamespace
"""

FUNCTION_GRANTS = """
SELECT p.proname, CASE a.grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(a.grantee) END AS grantee
FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
WHERE p.pronamespace = 'attest'::regnamespace AND a.grantee <> p.proowner
"""

ROWS = "SELECT * FROM attest.{table}"

READABLE_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'attest' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_table_privilege(c.oid, 'SELECT')
"""

TABLES_BY_NAME = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'attest' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""

CALLS = {
    "build_vector_index": "SELECT attest.build_vector_index(1)",
    "count_chunks": "SELECT attest.count_chunks()",
    "create_embedding_space": "SELECT attest.create_embedding_space('x', 3)",
    "empty_embedding_cache": "SELECT attest.empty_embedding_cache()",
    "match_documents": "SELECT attest.match_documents(NULL)",
    "nearest_chunks": "SELECT attest.nearest_chunks(1, NULL, NULL, 1)",
    "put_lane": "SELECT attest.put_lane('x', '', 100, 10, true)",
    "search_vector": "SELECT attest.search_vector('x', 1, NULL, NULL, 1, 0)",
    "separate_tenants": "SELECT attest.separate_tenants('pg_class')",
    "set_thresholds": "SELECT attest.set_thresholds(1, 0, 0)",
    "sweep_embedding_cache": "SELECT attest.sweep_embedding_cache()",
    "vector_index_is_due": "SELECT attest.vector_index_is_due(1)",
}

ROLES = """
SELECT rolname FROM pg_roles
WHERE rolname LIKE 'attest\\_%'
  AND (rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole OR rolreplication OR NOT rolcanlogin)
"""

MEMBERS = "SELECT count(*) FROM pg_auth_members WHERE member::regrole::text LIKE 'attest\\_%'"


@pytest.fixture(scope="module")
async def space_id(server: Server, documents: PostgresDocumentStore) -> int:
    return await activate(server, documents, MODEL, DIMENSIONS)


@pytest.fixture(scope="module")
async def catalog(server: Server, space_id: int) -> AsyncIterator[asyncpg.Connection]:
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        yield superuser


def kind(table: str) -> str:
    """Name all tables of spaces alike."""
    return "embeddings" if table.startswith("embeddings_") else table


async def test_every_table_is_under_row_level_security(catalog: asyncpg.Connection) -> None:
    tables = await catalog.fetch(TABLES)

    assert {kind(table["relname"]) for table in tables} == set(TABLE_RIGHTS)
    assert all(table["relrowsecurity"] and table["owner"] == "attest_owner" for table in tables)


async def test_tables_with_a_tenant_bind_their_owner_too(catalog: asyncpg.Connection) -> None:
    free = {kind(table["relname"]) for table in await catalog.fetch(TABLES) if not table["relforcerowsecurity"]}

    assert free == GLOBAL_TABLES


async def test_every_table_has_the_grants_that_are_written_here(catalog: asyncpg.Connection) -> None:
    granted: dict[str, dict[str, set[str]]] = {}
    for row in await catalog.fetch(TABLE_GRANTS):
        of_table = granted.setdefault(row["relname"], {})
        of_table.setdefault(row["grantee"], set()).add(row["privilege_type"])

    assert {table: TABLE_RIGHTS[kind(table)] for table in granted} == granted
    assert await catalog.fetchval(COLUMN_GRANTS) == 0
    assert await catalog.fetchval(SEQUENCE_GRANTS) == 0


async def test_every_function_has_the_grants_that_are_written_here(catalog: asyncpg.Connection) -> None:
    granted: dict[str, set[str]] = {row["proname"]: set() for row in await catalog.fetch(FUNCTIONS)}
    for row in await catalog.fetch(FUNCTION_GRANTS):
        granted[row["proname"]].add(row["grantee"])

    assert granted == FUNCTION_RIGHTS


async def test_only_known_functions_run_as_the_owner_and_every_function_fixes_its_path(
    catalog: asyncpg.Connection,
) -> None:
    functions = await catalog.fetch(FUNCTIONS)

    assert {function["proname"] for function in functions if function["prosecdef"]} == DEFINERS
    paths = {
        setting for function in functions for setting in function["settings"] if setting.startswith("search_path=")
    }
    assert paths == {"search_path=pg_catalog, pg_temp", "search_path=pg_catalog, ext, pg_temp"}
    assert all(any(setting in paths for setting in function["settings"]) for function in functions)


async def test_no_role_has_more_than_a_login(catalog: asyncpg.Connection) -> None:
    assert await catalog.fetch(ROLES) == []
    assert await catalog.fetchval(MEMBERS) == 0


@pytest.fixture
async def stranger(server: Server, space_id: int) -> AsyncIterator[asyncpg.Connection]:
    """Enter as a role that was given nothing."""
    async with connection(server.superuser.in_database(DATABASE)) as session:
        await session.execute("CREATE ROLE stranger; SET ROLE stranger")
        yield session
        await session.execute("RESET ROLE; DROP ROLE stranger")


async def test_a_role_without_grants_reads_no_table(stranger: asyncpg.Connection) -> None:
    """F20."""
    tables = [row["relname"] for row in await stranger.fetch(TABLES_BY_NAME)]

    assert len(tables) >= len(TABLE_RIGHTS)
    for table in tables:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await stranger.fetch(ROWS.format(table=table))


@pytest.mark.parametrize("function", sorted(FUNCTION_RIGHTS))
async def test_a_role_without_grants_calls_no_function(stranger: asyncpg.Connection, function: str) -> None:
    """F20."""
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await stranger.fetch(CALLS[function])


@pytest.mark.parametrize("role", [Role.READER, Role.WRITER, Role.OWNER])
async def test_without_a_tenant_no_row_of_any_tenant_is_seen(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str, role: Role
) -> None:
    made = sample(tenant, ["text"], [vector(1)])
    await documents.replace(made.document, space_id, made.chunks, made.vectors)

    async with connection(server.role(role)) as session:
        for setting in (None, "", "no-such-tenant", "%", f"{tenant} "):
            if setting is not None:
                await session.fetchval("SELECT set_config('attest.tenant', $1, false)", setting)
            for table in await _tables_of_tenants(session):
                assert await session.fetch(ROWS.format(table=table)) == [], table


async def test_every_table_shows_a_tenant_its_own_rows_and_no_others(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str
) -> None:
    for owner in (tenant, f"{tenant}-other"):
        made = sample(owner, ["text"], [vector(1)])
        await documents.replace(made.document, space_id, made.chunks, made.vectors)

    async with connection(server.role(Role.READER)) as session:
        await session.fetchval("SELECT set_config('attest.tenant', $1, false)", tenant)
        for table in await _tables_of_tenants(session):
            seen = {row["tenant"] for row in await session.fetch(ROWS.format(table=table))}
            assert seen <= {tenant}, table
        assert await session.fetchval("SELECT count(*) FROM attest.rag_docs") == 1


FOREIGN_WRITES = {
    "insert": "INSERT INTO attest.chunk_counts VALUES ($1, 'default', 1)",
    "move": "UPDATE attest.documents SET tenant = $1",
    "insert chunk": """
        INSERT INTO attest.rag_docs (ordinal, char_start, char_end, token_count, tenant, lane, document_id, passage_id,
          content)
        SELECT 9, 0, 1, 1, $1, lane, document_id, repeat('a', 32), 'x' FROM attest.documents""",
    "insert vector": """
        INSERT INTO attest.embeddings_{space_id} (chunk_id, tenant, lane, document_id, embedding)
        SELECT -1, $1, lane, document_id, embedding FROM attest.embeddings_{space_id}""",
}


@pytest.mark.parametrize("statement", FOREIGN_WRITES.values(), ids=FOREIGN_WRITES.keys())
async def test_a_writer_inside_one_tenant_writes_no_row_of_another(
    server: Server, documents: PostgresDocumentStore, space_id: int, tenant: str, statement: str
) -> None:
    made = sample(tenant, ["text"], [vector(1)])
    await documents.replace(made.document, space_id, made.chunks, made.vectors)

    async with connection(server.role(Role.WRITER)) as session:
        await session.fetchval("SELECT set_config('attest.tenant', $1, false)", tenant)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await session.execute(statement.format(space_id=space_id), f"{tenant}-other")


async def _tables_of_tenants(session: asyncpg.Connection) -> list[str]:
    """Name those that the role may read at all."""
    names = [row["relname"] for row in await session.fetch(READABLE_TABLES)]
    found = [name for name in names if kind(name) not in GLOBAL_TABLES]
    assert len(found) >= 5
    return found
