"""The making of the database: forth, back, forth again, by many at once, and under those who wait for it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.errors import Reason, UnavailableError
from services.common.postgres.connect import connection
from services.common.postgres.migrate import MigrationError, migrate, run_dbmate
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.readiness import wait_for_schema
from services.common.postgres.schema import MIGRATIONS, expected_version, schema_version
from services.common.postgres.settings import DATABASE, Role
from services.ingest.store import PostgresDocumentStore
from services.retrieval.store import PostgresPassageStore
from tests.database.conftest import THRESHOLDS, plenty
from tests.database.servers import Server, new_server

CATALOG = """
SELECT 'column' AS kind, format('%s.%s %s %s %s %s', c.relname, a.attnum, a.attname,
    format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) AS what
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'relation', format('%s %s %s %s %s %s', relkind, relname, relowner::regrole, relrowsecurity, relforcerowsecurity,
    relacl)
FROM pg_class WHERE relnamespace = 'attest'::regnamespace
UNION ALL
SELECT 'index', pg_get_indexdef(indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = 'attest'::regnamespace
UNION ALL
SELECT 'constraint', format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
FROM pg_constraint WHERE connamespace = 'attest'::regnamespace
UNION ALL
SELECT 'policy', format('%s %s %s %s %s %s', tablename, policyname, roles, cmd, qual, with_check)
FROM pg_policies WHERE schemaname = 'attest'
UNION ALL
SELECT 'function', pg_get_functiondef(oid) || coalesce(proacl::text, '') FROM pg_proc
WHERE pronamespace = 'attest'::regnamespace
UNION ALL
SELECT 'trigger', pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = 'attest'::regnamespace AND NOT tgisinternal
UNION ALL
SELECT 'comment', format('%s %s', pg_describe_object(classoid, objoid, objsubid), description) FROM pg_description
WHERE objoid IN (SELECT oid FROM pg_class WHERE relnamespace = 'attest'::regnamespace
  UNION ALL SELECT oid FROM pg_proc WHERE pronamespace = 'attest'::regnamespace)
UNION ALL
SELECT 'lane', l::text FROM attest.lanes l
ORDER BY 1, 2
"""

LEFT_AFTER_DOWN = """
SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind IN ('r', 'v', 'S')
UNION ALL
SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'attest'::regnamespace
"""

EXTENSION_SCHEMA = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"


@pytest.fixture(scope="module")
async def own_server() -> AsyncIterator[Server]:
    """Run a server that other tests do not use."""
    async with new_server() as made, made.running():
        yield made


@pytest.fixture
async def empty(own_server: Server) -> Server:
    """Give the server as it was before its first migration."""
    async with connection(own_server.superuser) as superuser:
        await superuser.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        for role in Role:
            await superuser.execute(f"DROP ROLE IF EXISTS {role}")
    return own_server


async def catalog(server: Server) -> list[tuple[str, str]]:
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        return [tuple(row) for row in await superuser.fetch(CATALOG)]


async def roll_back_everything(server: Server) -> None:
    for _ in MIGRATIONS.glob("*.sql"):
        await run_dbmate(server.role(Role.OWNER), MIGRATIONS, "rollback")


async def test_up_down_up_gives_the_same_schema(empty: Server) -> None:
    await empty.migrate()
    first = await catalog(empty)
    async with open_pool(empty.role(Role.WRITER), PoolLimits(), plenty) as pool:
        await PostgresDocumentStore(pool).ensure_space("model", 3, THRESHOLDS)

    await roll_back_everything(empty)
    async with connection(empty.superuser.in_database(DATABASE)) as superuser:
        left = [row[0] for row in await superuser.fetch(LEFT_AFTER_DOWN)]
    await empty.migrate()

    assert left == ["schema_migrations"]
    assert await catalog(empty) == first
    assert len(first) > 100


async def test_a_second_run_changes_nothing(empty: Server) -> None:
    await empty.migrate()
    async with connection(empty.superuser.in_database(DATABASE)) as superuser:
        before = await superuser.fetch("SELECT xmin::text, * FROM pg_authid WHERE rolname LIKE 'attest%'")
        await empty.migrate()
        after = await superuser.fetch("SELECT xmin::text, * FROM pg_authid WHERE rolname LIKE 'attest%'")

    assert after == before


@pytest.mark.parametrize("round_", range(3))
async def test_eight_that_start_at_once_all_succeed(empty: Server, round_: int) -> None:
    """F31."""
    versions = await asyncio.gather(*(empty.migrate() for _ in range(8)))

    assert versions == [expected_version()] * 8


async def test_the_owner_migrates_without_a_superuser_once_the_bootstrap_is_done(empty: Server) -> None:
    await empty.migrate()
    await roll_back_everything(empty)

    assert await migrate(empty.role(Role.OWNER)) == expected_version()


async def test_an_extension_that_is_there_already_is_moved(empty: Server) -> None:
    """F14: the extension may sit in another schema."""
    await empty.migrate()
    async with connection(empty.superuser.in_database(DATABASE)) as superuser:
        await roll_back_everything(empty)
        await superuser.execute("ALTER EXTENSION vector SET SCHEMA public")
        await empty.migrate()

        assert await superuser.fetchval(EXTENSION_SCHEMA) == "ext"


async def test_a_changed_password_reaches_the_server(empty: Server) -> None:
    await empty.migrate()
    async with connection(empty.superuser) as superuser:
        await superuser.execute("ALTER ROLE attest_reader PASSWORD 'another'")

    await empty.migrate()

    async with connection(empty.role(Role.READER)) as reader:
        assert await schema_version(reader) == expected_version()


async def test_a_failing_migration_says_why_and_not_the_password(empty: Server, tmp_path: Path) -> None:
    (tmp_path / "0001_fail.sql").write_text("-- migrate:up\nSELECT 1/0;\n-- migrate:down\n")

    with pytest.raises(MigrationError, match="division by zero") as caught:
        await migrate(
            empty.role(Role.OWNER), superuser=empty.superuser, passwords=empty.cluster.passwords, migrations=tmp_path
        )

    assert empty.cluster.secrets.owner_password not in str(caught.value)


async def test_a_service_waits_for_the_schema_and_says_so(empty: Server, caplog: pytest.LogCaptureFixture) -> None:
    """F14 and F31: not ready with a clear log; ready after the migration, without a restart."""
    caplog.set_level(logging.WARNING)
    async with open_pool(empty.role(Role.READER), PoolLimits(), plenty) as pool:
        with pytest.raises(UnavailableError) as caught:
            await wait_for_schema(pool, timeout_s=0.3)
        waiting = asyncio.create_task(wait_for_schema(pool, timeout_s=30))
        await empty.migrate()

        assert await waiting == expected_version()
    assert caught.value.reason is Reason.DATABASE_UNAVAILABLE
    assert "waiting for the database" in caplog.text


async def test_a_service_waits_on_a_bootstrapped_database_without_tables(empty: Server) -> None:
    await empty.migrate()
    await roll_back_everything(empty)
    async with open_pool(empty.role(Role.READER), PoolLimits(), plenty) as pool:
        with pytest.raises(UnavailableError, match="attest migrate"):
            await wait_for_schema(pool, timeout_s=0.1)
        await empty.migrate()

        assert await wait_for_schema(pool, timeout_s=30) == expected_version()


async def test_without_a_space_both_services_are_told_to_wait_and_the_first_space_becomes_active(empty: Server) -> None:
    await empty.migrate()
    async with (
        open_pool(empty.role(Role.WRITER), PoolLimits(), plenty) as writer,
        open_pool(empty.role(Role.READER), PoolLimits(), plenty) as reader,
    ):
        documents, passages = PostgresDocumentStore(writer), PostgresPassageStore(reader)
        for store in (documents, passages):
            with pytest.raises(UnavailableError):
                await store.active_space()

        first = await documents.ensure_space("first", 3, THRESHOLDS)
        await documents.ensure_space("second", 3, THRESHOLDS)

        assert (await documents.active_space()).space_id == first
        assert (await passages.active_space()).space_id == first


async def test_a_program_older_than_the_schema_does_not_wait(server: Server) -> None:
    async with open_pool(server.role(Role.READER), PoolLimits(), plenty) as pool:
        assert await wait_for_schema(pool, timeout_s=5, expected="0001") == "0001"
