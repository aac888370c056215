"""Which version of the schema this program needs, and whether the database has it yet."""

from pathlib import Path

import asyncpg

MIGRATIONS = Path(__file__).resolve().parents[3] / "migrations"
MIGRATIONS_TABLE = "attest.schema_migrations"

_VERSION = "SELECT max(version) FROM attest.schema_migrations"


def expected_version(migrations: Path = MIGRATIONS) -> str:
    """Return the version of the newest migration, the digits before the first underscore of its file name."""
    versions = [file.name.split("_", 1)[0] for file in migrations.glob("*.sql")]
    if not versions:
        raise FileNotFoundError(f"no migrations in {migrations}")
    return max(versions)


async def schema_version(connection: asyncpg.Connection) -> str | None:
    """Return the version of the database, or None when it was never migrated."""
    try:
        version: str | None = await connection.fetchval(_VERSION)
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError, asyncpg.InsufficientPrivilegeError):
        return None
    return version
