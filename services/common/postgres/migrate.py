"""Brings a database to the newest schema, one migrator at a time."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from services.common.postgres.bootstrap import RolePasswords, bootstrap_database, bootstrap_server
from services.common.postgres.connect import connection
from services.common.postgres.schema import MIGRATIONS, MIGRATIONS_TABLE, expected_version, schema_version
from services.common.postgres.settings import DATABASE, DatabaseSettings

LOCK_KEY = 0x61747465_7374  # "attest"
LOCK_TIMEOUT_S = 300
DBMATE_TIMEOUT_S = 600

_SET_LOCK_TIMEOUT = f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'"
_LOCK = "SELECT pg_catalog.pg_advisory_lock($1)"


class MigrationError(Exception):
    """The migrations did not run; the message ends with what dbmate said, which holds no password."""


async def migrate(
    owner: DatabaseSettings,
    *,
    superuser: DatabaseSettings | None = None,
    passwords: RolePasswords | None = None,
    migrations: Path = MIGRATIONS,
) -> str:
    """Run the bootstrap, when a superuser is given, and the migrations; return the version reached.

    Both run under a session lock on a connection of its own, held from the first check to the last statement. Raises
    MigrationError, UnavailableError when the server cannot be reached, FailedPreconditionError when it is too old.
    """
    if superuser is None:
        async with _locked(owner) as holder:
            return await _migrate(holder, owner, migrations)
    if passwords is None:
        raise ValueError("the bootstrap needs the passwords of the roles")
    # The database is not there at first, and an advisory lock is known inside its database only: so two of them.
    async with _locked(superuser) as server:
        await bootstrap_server(server, passwords)
        async with _locked(superuser.in_database(DATABASE)) as holder:
            await bootstrap_database(superuser)
            return await _migrate(holder, owner, migrations)


@asynccontextmanager
async def _locked(settings: DatabaseSettings) -> AsyncIterator[asyncpg.Connection]:
    async with connection(settings) as holder:
        await holder.execute(_SET_LOCK_TIMEOUT)
        await holder.execute("SET statement_timeout = 0")
        try:
            await holder.fetchval(_LOCK, LOCK_KEY)
        except asyncpg.LockNotAvailableError as error:
            raise MigrationError(f"another migration has run for {LOCK_TIMEOUT_S} s; see what it does") from error
        yield holder


async def _migrate(holder: asyncpg.Connection, owner: DatabaseSettings, migrations: Path) -> str:
    wanted = expected_version(migrations)
    if (await schema_version(holder) or "") < wanted:
        await run_dbmate(owner, migrations, "migrate")
    return await schema_version(holder) or ""


async def run_dbmate(owner: DatabaseSettings, migrations: Path, command: str) -> None:
    """Run one command of dbmate, `migrate` or `rollback`, as the owner; raise MigrationError when it fails."""
    process = await asyncio.create_subprocess_exec(
        str(_dbmate()),
        "--env-file",
        os.devnull,
        "--migrations-dir",
        str(migrations),
        "--migrations-table",
        MIGRATIONS_TABLE,
        "--no-dump-schema",
        # Our lock goes with our connection; dbmate's own goes with the session that does the work.
        "--migration-lock",
        command,
        # The password stands in the environment only, never among the arguments that others can list.
        env={"DATABASE_URL": f"{owner.dsn}?sslmode={_ssl_mode(owner)}", "PATH": os.defpath},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), DBMATE_TIMEOUT_S)
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode != 0:
        said = output.decode("utf-8", "replace").strip().replace(owner.password, "***")
        raise MigrationError(f"dbmate {command} failed: {said[-2000:]}")


def _ssl_mode(owner: DatabaseSettings) -> str:
    return "disable" if owner.host in {"127.0.0.1", "::1", "localhost"} else "require"


def _dbmate() -> Path:
    beside = Path(sys.executable).parent / "dbmate"
    found = beside if beside.exists() else shutil.which("dbmate")
    if found is None:
        raise MigrationError("dbmate is not installed; run: make setup")
    return Path(found)
