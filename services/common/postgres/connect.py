"""Single connections, outside any pool: for migrations, and for finding out whether a server answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from services.common.errors import DomainError
from services.common.postgres.failures import domain_error, unreachable
from services.common.postgres.settings import DatabaseSettings

CONNECT_TIMEOUT_S = 10.0
_POLL_S = 0.05


async def connect(settings: DatabaseSettings, timeout_s: float = CONNECT_TIMEOUT_S) -> asyncpg.Connection:
    """Open a connection; raise UnavailableError when the server cannot be entered within `timeout_s`."""
    try:
        return await asyncpg.connect(
            host=settings.host,
            port=settings.port,
            database=settings.database,
            user=settings.user,
            password=settings.password,
            timeout=timeout_s,
            server_settings={"application_name": "attest"},
        )
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise domain_error(error) or unreachable() from error


@asynccontextmanager
async def connection(settings: DatabaseSettings) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection for the length of the block."""
    opened = await connect(settings)
    try:
        yield opened
    finally:
        await opened.close(timeout=5)


async def wait_reachable(settings: DatabaseSettings, timeout_s: float) -> None:
    """Return once the server lets us in; raise UnavailableError when it does not within `timeout_s`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    while True:
        try:
            probe = await connect(settings, max(deadline - loop.time(), _POLL_S))
        except DomainError:
            if loop.time() + _POLL_S >= deadline:
                raise
            await asyncio.sleep(_POLL_S)
        else:
            await probe.close(timeout=5)
            return
