"""What somebody can do who holds the reader's password: read what the reader reads, and change nothing."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.common.postgres.connect import connection
from services.common.postgres.settings import Role
from services.ingest.store import PostgresDocumentStore
from tests.database.conftest import activate
from tests.database.samples import DIMENSIONS, MODEL, sample, vector
from tests.database.servers import Server

TENANT = "hostile-victim"

REFUSED = {
    "insert": "INSERT INTO attest.lanes VALUES ('x', '', 1, 0)",
    "insert default values": "INSERT INTO attest.documents DEFAULT VALUES",
    "update": "UPDATE attest.documents SET title = 'x'",
    "update of a column": "UPDATE attest.embedding_spaces SET state = 'INACTIVE'",
    "delete": "DELETE FROM attest.documents",
    "delete in a cte": "WITH gone AS (DELETE FROM attest.rag_docs RETURNING 1) SELECT count(*) FROM gone",
    "truncate": "TRUNCATE attest.documents CASCADE",
    "merge": "MERGE INTO attest.lanes l USING (SELECT 'x' AS n) s ON l.name = s.n WHEN MATCHED THEN DELETE",
    "copy from": "COPY attest.lanes FROM STDIN",
    "copy from a file": "COPY attest.lanes FROM '/etc/hostname'",
    "copy from a program": "COPY attest.lanes FROM PROGRAM 'id'",
    "copy to a file": "COPY attest.lanes TO '/tmp/attest-hostile'",
    "copy to a program": "COPY attest.lanes TO PROGRAM 'cat'",
    "create table": "CREATE TABLE attest.x ()",
    "create table in public": "CREATE TABLE public.x ()",
    "create table in ext": "CREATE TABLE ext.x ()",
    "create table as": "CREATE TABLE attest.x AS SELECT 1",
    "create temporary table": "CREATE TEMP TABLE x ()",
    "create temporary view": "CREATE TEMP VIEW x AS SELECT 1",
    "create temporary sequence": "CREATE TEMP SEQUENCE x",
    "select into": "SELECT 1 AS a INTO attest.x",
    "select into temporary": "SELECT 1 AS a INTO TEMP x",
    "create view": "CREATE VIEW attest.x AS SELECT 1",
    "create materialized view": "CREATE MATERIALIZED VIEW attest.x AS SELECT 1",
    "create index": "CREATE INDEX x ON attest.documents (title)",
    "create function": "CREATE FUNCTION attest.x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "create temporary function": "CREATE FUNCTION pg_temp.x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "create procedure": "CREATE PROCEDURE attest.x() LANGUAGE sql AS 'SELECT 1'",
    "create type": "CREATE TYPE attest.x AS ENUM ('a')",
    "create domain": "CREATE DOMAIN attest.x AS int",
    "create sequence": "CREATE SEQUENCE attest.x",
    "create schema": "CREATE SCHEMA x",
    "create extension": "CREATE EXTENSION pg_trgm",
    "create trigger": "CREATE TRIGGER x AFTER INSERT ON attest.documents EXECUTE FUNCTION attest.count_chunks()",
    "create event trigger": "CREATE EVENT TRIGGER x ON ddl_command_end EXECUTE FUNCTION attest.count_chunks()",
    "create rule": "CREATE RULE x AS ON SELECT TO attest.documents DO INSTEAD NOTHING",
    "create policy": "CREATE POLICY x ON attest.documents USING (true)",
    "create role": "CREATE ROLE x",
    "create database": "CREATE DATABASE x",
    "create tablespace": "CREATE TABLESPACE x LOCATION '/tmp'",
    "create publication": "CREATE PUBLICATION x",
    "create subscription": "CREATE SUBSCRIPTION x CONNECTION '' PUBLICATION x WITH (connect = false)",
    "create foreign data wrapper": "CREATE FOREIGN DATA WRAPPER x",
    "create statistics": "CREATE STATISTICS attest.x ON tenant, lane FROM attest.documents",
    "create cast": "CREATE CAST (text AS jsonb) WITH INOUT",
    "create operator": "CREATE OPERATOR attest.@#@ (leftarg = int, rightarg = int, function = int4pl)",
    "create aggregate": "CREATE AGGREGATE attest.x (int) (sfunc = int4pl, stype = int)",
    "create text search configuration": "CREATE TEXT SEARCH CONFIGURATION attest.x (copy = pg_catalog.english)",
    "create access method": "CREATE ACCESS METHOD x TYPE INDEX HANDLER bthandler",
    "create language": "CREATE LANGUAGE x HANDLER plpgsql_call_handler",
    "create collation": "CREATE COLLATION attest.x (provider = builtin, locale = 'C')",
    "alter table": "ALTER TABLE attest.documents ADD x int",
    "alter table off security": "ALTER TABLE attest.documents DISABLE ROW LEVEL SECURITY",
    "alter function": "ALTER FUNCTION attest.count_chunks() SECURITY DEFINER",
    "alter policy": "ALTER POLICY tenant ON attest.documents USING (true)",
    "alter schema": "ALTER SCHEMA attest RENAME TO x",
    "alter database": "ALTER DATABASE attest SET search_path = public",
    "alter another role": "ALTER ROLE attest_writer PASSWORD 'x'",
    "alter own rights": "ALTER ROLE attest_reader SUPERUSER",
    "alter own row security": "ALTER ROLE attest_reader BYPASSRLS",
    "alter system": "ALTER SYSTEM SET log_statement = 'all'",
    "alter default privileges": "ALTER DEFAULT PRIVILEGES FOR ROLE attest_owner GRANT ALL ON TABLES TO PUBLIC",
    "alter index": "ALTER INDEX attest.documents_pk RENAME TO x",
    "alter sequence": "ALTER SEQUENCE attest.rag_docs_chunk_id_seq RESTART",
    "alter extension": "ALTER EXTENSION vector SET SCHEMA public",
    "drop extension": "DROP EXTENSION vector CASCADE",
    "drop policy": "DROP POLICY tenant ON attest.documents",
    "drop index": "DROP INDEX attest.rag_docs_by_place",
    "drop database": "DROP DATABASE attest",
    "drop table": "DROP TABLE attest.documents CASCADE",
    "drop schema": "DROP SCHEMA attest CASCADE",
    "drop function": "DROP FUNCTION attest.count_chunks() CASCADE",
    "drop role": "DROP ROLE attest_auth",
    "drop owned by another": "DROP OWNED BY attest_writer",
    "reassign": "REASSIGN OWNED BY attest_owner TO attest_reader",
    "grant a role": "GRANT attest_owner TO attest_reader",
    "comment": "COMMENT ON TABLE attest.documents IS 'x'",
    "reindex": "REINDEX TABLE attest.documents",
    "cluster": "CLUSTER attest.documents USING documents_pk",
    "checkpoint": "CHECKPOINT",
    "load": "LOAD 'auto_explain'",
    "refresh": "REFRESH MATERIALIZED VIEW attest.documents",
    "select for update": "SELECT * FROM attest.documents FOR UPDATE",
    "select for share": "SELECT * FROM attest.documents FOR SHARE",
    "select for key share": "SELECT * FROM attest.documents FOR KEY SHARE",
    "lock table": "LOCK TABLE attest.documents IN ACCESS EXCLUSIVE MODE",
    "anonymous block": "DO $$ BEGIN DELETE FROM attest.documents; END $$",
    "set role": "SET ROLE attest_writer",
    "set session authorization": "SET SESSION AUTHORIZATION postgres",
    "statement logging": "SET log_statement = 'all'",
    "log level": "SET log_min_error_statement = 'error'",
    "parameter logging": "SET log_parameter_max_length = -1",
    "replication role": "SET session_replication_role = 'replica'",
    "another table's sequence": "SELECT nextval('attest.rag_docs_chunk_id_seq')",
    "sequence set": "SELECT setval('attest.rag_docs_chunk_id_seq', 1)",
    "space": "SELECT attest.create_embedding_space('x', 3)",
    "trigger function": "SELECT attest.count_chunks()",
    "api keys": "SELECT * FROM attest.api_keys",
    "password hashes": "SELECT * FROM pg_catalog.pg_authid",
    "large object": "SELECT lo_creat(-1)",
    "large object by id": "SELECT lo_create(0)",
    "large object from bytes": "SELECT lo_from_bytea(0, 'x')",
    "large object put": "SELECT lo_put(1, 0, 'x')",
    "large object unlink": "SELECT lo_unlink(1)",
    "large object open": "SELECT lo_open(1, 131072)",
    "large object import": "SELECT lo_import('/etc/hostname')",
    "large object export": "SELECT lo_export(1, '/tmp/attest-hostile')",
    "read a file": "SELECT pg_read_file('/etc/hostname')",
    "list a folder": "SELECT pg_ls_dir('.')",
    "reload": "SELECT pg_reload_conf()",
    "rotate the log": "SELECT pg_rotate_logfile()",
    "switch wal": "SELECT pg_switch_wal()",
    "restore point": "SELECT pg_create_restore_point('x')",
    "backup": "SELECT pg_backup_start('x')",
    "replication slot": "SELECT pg_create_physical_replication_slot('x')",
    "write to the wal": "SELECT pg_logical_emit_message(false, 'x', 'y')",
    "stop a stranger": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'attest_writer'",
    "reset statistics": "SELECT pg_stat_reset()",
    "memory contexts": "SELECT pg_log_backend_memory_contexts(1)",
    "the log through a backend": "SELECT pg_catalog.pg_current_logfile()",
}
"""Statements that could change something, or show what the reader has no business with."""

NEVER_IN_A_TRANSACTION = {"create database", "create tablespace", "alter system", "drop database"}
"""Statements that Postgres refuses inside a transaction before it looks at the rights."""

ALLOWED = {
    "alter own password": "ALTER ROLE attest_reader PASSWORD 'x'",
    "alter own settings": "ALTER ROLE attest_reader SET work_mem = '1MB'",
    "notify": "NOTIFY x",
    "notify by function": "SELECT pg_notify('x', 'y')",
    "listen": "LISTEN x",
    "advisory lock": "SELECT pg_advisory_xact_lock(1)",
    "session advisory lock": "SELECT pg_try_advisory_lock(1), pg_advisory_unlock_all()",
    "transaction id": "SELECT pg_current_xact_id()",
    "snapshot": "SELECT pg_export_snapshot()",
    "cursor": "DECLARE x CURSOR FOR SELECT 1",
    "prepared statement": "PREPARE x AS SELECT 1; DEALLOCATE x",
    "another tenant": "SELECT set_config('attest.tenant', 'anybody', true)",
    "own timeouts": "SET LOCAL statement_timeout = 0",
    "weak table lock": "LOCK TABLE attest.documents IN ACCESS SHARE MODE",
    "security off, which errors rather than shows": "SET LOCAL row_security = off",
    "sleep": "SELECT pg_sleep(0)",
    "grant what it does not hold, which warns and grants nothing": "GRANT SELECT ON attest.documents TO PUBLIC",
    "drop what it owns, which is nothing": "DROP OWNED BY attest_reader",
}
"""What Postgres lets any role do: none of it changes data of Attest, and the last three change nothing at all."""

SKIPPED_BY_POSTGRES = {"analyze": "ANALYZE attest.documents", "vacuum": "VACUUM attest.documents"}
"""Maintenance that Postgres answers with a warning and leaves undone when a table belongs to somebody else."""


@pytest.fixture(scope="module")
async def victim(server: Server, documents: PostgresDocumentStore) -> None:
    space_id = await activate(server, documents, MODEL, DIMENSIONS)
    made = sample(TENANT, ["text"], [vector(1)])
    await documents.replace(made.document, space_id, made.chunks, made.vectors)


@pytest.fixture
async def hostile(server: Server, victim: None) -> AsyncIterator[asyncpg.Connection]:
    async with connection(server.role(Role.READER)) as session:
        await session.execute("SET default_transaction_read_only = off; SET lock_timeout = '1s'")
        await session.execute(f"SET attest.tenant = '{TENANT}'")
        yield session


@pytest.mark.parametrize("name", REFUSED)
async def test_a_statement_that_could_change_something_is_refused(hostile: asyncpg.Connection, name: str) -> None:
    transaction = None if name in NEVER_IN_A_TRANSACTION else hostile.transaction()
    if transaction:
        await transaction.start()
    try:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await hostile.execute(REFUSED[name])
    finally:
        if transaction:
            await transaction.rollback()

    assert isinstance(caught.value, asyncpg.InsufficientPrivilegeError), repr(caught.value)


@pytest.mark.parametrize("statement", ALLOWED.values(), ids=ALLOWED.keys())
async def test_a_statement_of_the_allow_list_is_let_through(hostile: asyncpg.Connection, statement: str) -> None:
    """Somebody who thinks that the list is too long must find a way to make Postgres refuse."""
    transaction = hostile.transaction()
    await transaction.start()
    try:
        await hostile.execute(statement)
    finally:
        await transaction.rollback()


@pytest.mark.parametrize("statement", SKIPPED_BY_POSTGRES.values(), ids=SKIPPED_BY_POSTGRES.keys())
async def test_maintenance_of_foreign_tables_is_left_undone(hostile: asyncpg.Connection, statement: str) -> None:
    warnings: list[str] = []
    hostile.add_log_listener(lambda _, message: warnings.append(message.sqlstate))

    await hostile.execute(statement)

    assert warnings == ["01000"]


async def test_a_session_can_end_another_of_its_own_role(server: Server, hostile: asyncpg.Connection) -> None:
    """Part of the allow-list: it costs the reader's own service a retry and nothing else."""
    async with connection(server.role(Role.READER)) as other:
        pid = other.get_server_pid()

        assert await hostile.fetchval("SELECT pg_terminate_backend($1, 5000)", pid)
        assert not await hostile.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid)


async def test_after_a_grant_that_is_let_through_nobody_has_more(hostile: asyncpg.Connection) -> None:
    async with hostile.transaction():
        await hostile.execute(ALLOWED["grant what it does not hold, which warns and grants nothing"])

        assert not await hostile.fetchval("SELECT has_table_privilege('public', 'attest.documents', 'SELECT')")


async def test_security_off_is_an_error_and_no_row(hostile: asyncpg.Connection) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await hostile.execute("SET row_security = off; SELECT * FROM attest.documents")


@pytest.mark.parametrize("database", ["postgres", "template1"])
async def test_the_other_databases_of_the_cluster_are_closed(server: Server, database: str) -> None:
    settings = server.role(Role.READER).in_database(database)

    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
        await asyncpg.connect(settings.dsn, timeout=5)


async def test_the_reader_starts_read_only_with_limits(server: Server) -> None:
    async with connection(server.role(Role.READER)) as session:
        names = ("default_transaction_read_only", "statement_timeout", "lock_timeout", "search_path")
        values = [await session.fetchval(f"SHOW {name}") for name in names]

    assert values == ["on", "10s", "2s", "attest, ext"]
