"""The pool: bounds, names of failures, codecs on every connection."""

import asyncio
import contextlib
import socket
from dataclasses import replace

import asyncpg
import numpy as np
import pytest

from services.common.errors import DeadlineExceededError, Reason, ResourceExhaustedError, UnavailableError
from services.common.postgres.connect import connection
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.settings import DATABASE, Role
from tests.database.conftest import plenty
from tests.database.servers import Server, free_port

SLEEPERS = """
SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND usename = 'attest_reader'
"""

ONE = PoolLimits(connections=1, acquire_s=0.2)


async def test_a_pool_that_is_used_up_answers_busy_in_time(server: Server) -> None:
    """F24."""
    async with open_pool(server.role(Role.READER), ONE, plenty) as pool, pool.connection():
        started = asyncio.get_running_loop().time()
        with pytest.raises(ResourceExhaustedError) as caught:
            await pool.fetch("SELECT 1")

    assert caught.value.reason is Reason.SERVICE_BUSY
    assert asyncio.get_running_loop().time() - started < 2


async def test_a_call_waits_no_longer_than_it_has_time(server: Server) -> None:
    """F24."""
    limits, ends = replace(ONE, acquire_s=30.0), asyncio.get_running_loop().time() + 0.2

    def remaining() -> float:
        return max(0.0, ends - asyncio.get_running_loop().time())

    async with open_pool(server.role(Role.READER), limits, remaining) as pool, pool.connection():
        with pytest.raises(DeadlineExceededError):
            await pool.fetch("SELECT 1")


async def test_a_call_without_time_does_not_start(server: Server) -> None:
    async with open_pool(server.role(Role.READER), ONE, lambda: 0.0) as pool:
        with pytest.raises(DeadlineExceededError):
            await pool.fetch("SELECT 1")


async def test_a_statement_that_takes_too_long_is_ended(server: Server) -> None:
    async with open_pool(server.role(Role.READER), replace(ONE, command_s=0.2), plenty) as pool:
        with pytest.raises(ResourceExhaustedError) as caught:
            await pool.fetch("SELECT pg_sleep(30)")

        assert caught.value.reason is Reason.SERVICE_BUSY
        assert len(await pool.fetch("SELECT 1")) == 1


async def test_a_cancelled_call_gives_its_connection_back(server: Server) -> None:
    async with open_pool(server.role(Role.READER), replace(ONE, acquire_s=5.0), plenty) as pool:
        call = asyncio.create_task(pool.fetch("SELECT pg_sleep(30)"))
        await _until_sleeping(server)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        assert len(await pool.fetch("SELECT 1")) == 1


async def test_an_unfinished_transaction_ends_with_the_loan(server: Server) -> None:
    async with open_pool(server.role(Role.READER), ONE, plenty) as pool:
        async with pool.connection() as session:
            await session.execute("BEGIN; SET LOCAL attest.tenant = 'somebody'")
        async with pool.connection() as session:
            assert not session.is_in_transaction()
            assert not await session.fetchval("SELECT current_setting('attest.tenant', true)")


async def test_a_server_that_is_not_there_is_unavailable(server: Server) -> None:
    absent = replace(server.role(Role.READER), port=free_port())
    async with open_pool(absent, ONE, plenty) as pool:
        with pytest.raises(UnavailableError) as caught:
            await pool.fetch("SELECT 1")

    assert caught.value.reason is Reason.DATABASE_UNAVAILABLE


async def test_a_server_that_accepts_and_never_answers_is_unavailable(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        settings = replace(server.role(Role.READER), port=mute.getsockname()[1])
        async with open_pool(settings, ONE, plenty) as pool:
            with pytest.raises(UnavailableError) as caught:
                await pool.fetch("SELECT 1")

    assert caught.value.reason is Reason.DATABASE_UNAVAILABLE


async def test_a_wrong_password_is_unavailable_and_said_to_nobody(server: Server) -> None:
    settings = replace(server.role(Role.READER), password="secret-guess")
    async with open_pool(settings, ONE, plenty) as pool:
        with pytest.raises(UnavailableError) as caught:
            await pool.fetch("SELECT 1")

    assert "secret-guess" not in caught.value.message
    assert "secret-guess" not in repr(settings)


async def test_a_pool_outlives_the_sessions_that_the_server_ends(server: Server) -> None:
    """The server's farewell may come before, with or after the next statement: the failure has one name."""
    async with (
        open_pool(server.role(Role.READER), replace(ONE, acquire_s=5.0), plenty) as pool,
        connection(server.superuser.in_database(DATABASE)) as superuser,
    ):
        for round_ in range(30):
            pid = (await pool.fetch("SELECT pg_backend_pid()"))[0][0]
            await superuser.fetchval("SELECT pg_terminate_backend($1, $2)", pid, round_ % 3)

            with contextlib.suppress(UnavailableError):
                await pool.fetch("SELECT 1")
            assert len(await pool.fetch("SELECT 1")) == 1


async def test_every_connection_knows_vectors_and_json(server: Server) -> None:
    """F28."""
    limits, meaning = PoolLimits(connections=10), {"n": 1, "l": [True, None], "ä": "ö"}
    vector = np.array([1.5, -2.0, 0.25], dtype=np.float32)

    async with open_pool(server.role(Role.READER), limits, plenty) as pool:
        gate = asyncio.Barrier(10)

        async def one() -> int:
            async with pool.connection() as session:
                await gate.wait()
                row = await session.fetchrow("SELECT $1::jsonb AS j, $2::ext.vector AS v", meaning, vector)
                assert row["j"] == meaning
                assert row["v"].dtype == np.float32
                assert row["v"].tolist() == vector.tolist()
                return int(session.get_server_pid())

        assert len(set(await asyncio.gather(*(one() for _ in range(10))))) == 10


async def test_the_server_logs_nothing_that_was_typed(server: Server) -> None:
    """Promise 4: neither as a parameter nor in a statement, neither in an error nor on a time-out."""
    async with connection(server.role(Role.READER)) as session:
        for statement in (
            "SELECT $1::text::int",
            "SELECT pg_sleep(2), $1::text",
            "SELECT $1::text FROM no_such_table",
        ):
            with pytest.raises((asyncpg.PostgresError, TimeoutError)):
                await session.fetch(statement, "canary-parameter", timeout=0.2)
        with pytest.raises(asyncpg.PostgresError):
            await session.execute("SELECT 'canary-literal' FROM no_such_table")

    log = server.log.read_text()
    assert "canary" not in log
    assert "SELECT" not in log


async def test_nobody_listens_beyond_the_loopback(server: Server) -> None:
    async with connection(server.superuser) as superuser:
        assert await superuser.fetchval("SHOW listen_addresses") == "127.0.0.1"
        assert await superuser.fetchval("SHOW unix_socket_directories") == ""
        assert await superuser.fetchval("SHOW data_checksums") == "on"
        assert (
            await superuser.fetchval("SELECT count(*) FROM pg_hba_file_rules WHERE auth_method <> 'scram-sha-256'") == 0
        )
    assert free_port() != server.cluster.port


async def _until_sleeping(server: Server) -> None:
    async with connection(server.superuser) as superuser, asyncio.timeout(10):
        while True:
            if await superuser.fetchval(SLEEPERS):
                return
            await asyncio.sleep(0.01)


async def test_a_reader_sees_one_snapshot_in_all_of_a_search(server: Server) -> None:
    """The statements inside a volatile function would each see another, and lose a version swapped between them."""
    async with connection(server.role(Role.READER)) as reader:
        isolation = await reader.fetchval("SHOW transaction_isolation")

    assert isolation == "repeatable read"
