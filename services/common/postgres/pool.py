"""The pool of a service: every wait has a bound, every failure a name, and nothing of one call stays for the next."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg

from services.common.errors import DeadlineExceededError, DomainError, Reason, ResourceExhaustedError
from services.common.postgres.codecs import register_codecs, vectors_known
from services.common.postgres.failures import domain_error, unmigrated, unreachable
from services.common.postgres.settings import DatabaseSettings

_SET_TENANT = "SELECT set_config('attest.tenant', $1, true)"


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Bounds of a pool; times in seconds."""

    connections: int = 10
    """Most connections that are open at once."""
    acquire_s: float = 2.0
    """Longest wait for a free connection."""
    command_s: float = 10.0
    """Longest wait for one statement."""
    close_s: float = 5.0
    """Longest wait for running statements when the pool closes."""


class Pool:
    """Connections to one database as one role; made by `open_pool`."""

    def __init__(self, pool: asyncpg.Pool, limits: PoolLimits, remaining: Callable[[], float]) -> None:
        """Wrap asyncpg's pool; `remaining` tells how many seconds the present call has left."""
        self._pool = pool
        self._limits = limits
        self._remaining = remaining

    async def fetch(self, query: str, *arguments: Any) -> list[asyncpg.Record]:
        """Run one statement in one round trip and return its rows; raises as `connection` does."""
        async with self.connection() as connection:
            rows: list[asyncpg.Record] = await connection.fetch(query, *arguments, timeout=self._command_time())
            return rows

    @asynccontextmanager
    async def tenant(self, tenant: str) -> AsyncIterator[asyncpg.Connection]:
        """Open a transaction that sees and writes the rows of one tenant; it commits when the block ends well."""
        async with self.connection() as connection, connection.transaction():
            await connection.execute(_SET_TENANT, tenant)
            yield connection

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[asyncpg.Connection]:
        """Lend a connection.

        Raises ResourceExhaustedError with SERVICE_BUSY when none gets free or a statement takes too long,
        DeadlineExceededError when the call has no time left, UnavailableError with DATABASE_UNAVAILABLE when the
        database cannot be reached or is not migrated.
        """
        connection = await self._acquire()
        try:
            yield connection
        except Exception as error:
            named = self._named(error)
            if named is None:
                raise
            raise named from error
        finally:
            await self._give_back(connection)

    async def _give_back(self, connection: asyncpg.Connection) -> None:
        """Release the connection; one that a stalled server holds up is dropped, and is no news to the caller.

        The release is shielded inside asyncpg: a cancelled caller cannot leave a connection half given back.
        """
        with contextlib.suppress(TimeoutError):
            await self._pool.release(connection, timeout=self._limits.close_s)

    async def _acquire(self) -> asyncpg.Connection:
        wait = min(self._limits.acquire_s, self._remaining())
        if wait <= 0:
            raise _too_late()
        try:
            return await self._pool.acquire(timeout=wait)
        except TimeoutError as error:
            if self._remaining() <= 0:
                raise _too_late() from error
            if self._pool.get_size() < self._pool.get_max_size():
                raise unreachable() from error
            raise ResourceExhaustedError(
                Reason.SERVICE_BUSY, "All database connections are in use; try again."
            ) from error
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            named = self._named(error)
            if named is None:
                raise
            raise named from error

    def _named(self, error: Exception) -> DomainError | None:
        """Return the error by its name for the caller, or None when it has one or is a fault of ours."""
        if isinstance(error, DomainError):
            return None
        if isinstance(error, (TimeoutError, asyncpg.QueryCanceledError)) and self._remaining() <= 0:
            return _too_late()
        return domain_error(error)

    def _command_time(self) -> float:
        return max(0.001, min(self._limits.command_s, self._remaining()))


@asynccontextmanager
async def open_pool(
    settings: DatabaseSettings, limits: PoolLimits, remaining: Callable[[], float]
) -> AsyncIterator[Pool]:
    """Open a pool for the length of the block; it connects when first used, so the database may come later."""
    pool = asyncpg.create_pool(
        host=settings.host,
        port=settings.port,
        database=settings.database,
        user=settings.user,
        password=settings.password,
        min_size=0,
        max_size=limits.connections,
        max_inactive_connection_lifetime=300,
        timeout=limits.acquire_s,
        command_timeout=limits.command_s,
        server_settings={"application_name": "attest"},
        init=_prepare,
        reset=_reset,
    )
    async with pool:
        try:
            yield Pool(pool, limits, remaining)
        finally:
            await _close(pool, limits.close_s)


async def _prepare(connection: asyncpg.Connection) -> None:
    """Codecs only: a setting made here would be gone after the first use (F5); settings belong to the role."""
    if not await vectors_known(connection):
        raise unmigrated()
    await register_codecs(connection)


async def _reset(connection: asyncpg.Connection) -> None:
    """Send no reset, which would cost each call a round trip.

    asyncpg has rolled back an open transaction by now; settings here are local to theirs, and no session lock is taken.
    """


async def _close(pool: asyncpg.Pool, seconds: float) -> None:
    try:
        await asyncio.wait_for(pool.close(), seconds)
    except TimeoutError:
        pool.terminate()


def _too_late() -> DeadlineExceededError:
    return DeadlineExceededError(Reason.DEADLINE_EXCEEDED, "The deadline passed before the database answered.")
