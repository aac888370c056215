"""Waiting for the schema: a service starts before its database is migrated and says what it waits for (F14, F31)."""

import asyncio
import logging

from services.common.errors import UnavailableError
from services.common.postgres.failures import unmigrated
from services.common.postgres.pool import Pool
from services.common.postgres.schema import MIGRATIONS, expected_version, schema_version

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0

_log = logging.getLogger(__name__)


async def check_schema(pool: Pool, expected: str) -> None:
    """Raise UnavailableError when the database cannot be reached or is older than `expected`."""
    async with pool.connection() as connection:
        version = await schema_version(connection)
    if (version or "") < expected:
        raise unmigrated()


async def wait_for_schema(pool: Pool, timeout_s: float | None = None, expected: str | None = None) -> str:
    """Return the needed version once the database has it, or a newer one.

    Waits for ever when `timeout_s` is None; otherwise raises UnavailableError when the time is over.
    """
    wanted = await asyncio.to_thread(expected_version, MIGRATIONS) if expected is None else expected
    loop = asyncio.get_running_loop()
    deadline = loop.time() + (float("inf") if timeout_s is None else timeout_s)
    pause, said = _FIRST_PAUSE_S, ""
    while True:
        try:
            await check_schema(pool, wanted)
        except UnavailableError as error:
            if loop.time() + pause > deadline:
                raise
            if error.message != said:
                _log.warning("waiting for the database: %s Needed schema version: %s.", error.message, wanted)
            said = error.message
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)
        else:
            return wanted
