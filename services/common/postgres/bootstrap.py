"""The part of the making that needs a superuser: roles, the database, the extension, the revokes."""

from dataclasses import dataclass, field
from importlib.resources import files

import asyncpg

from services.common.errors import FailedPreconditionError, Reason
from services.common.postgres import scram
from services.common.postgres.connect import connection
from services.common.postgres.settings import DATABASE, DatabaseSettings, Role

MINIMUM_VERSION = 170000
"""Postgres 17, in the form of `server_version_num`: the first with the builtin locale C.UTF-8."""

_VERSION = "SELECT current_setting('server_version_num')::int"
_STORED_PASSWORD = "SELECT rolpassword FROM pg_catalog.pg_authid WHERE rolname = $1"  # noqa: S105 - a query
_PASSWORD_STATEMENT = "SELECT format('ALTER ROLE %I PASSWORD %L', $1::text, $2::text)"  # noqa: S105 - a query
_DATABASE_EXISTS = "SELECT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $1)"
_CREATE_DATABASE = (
    f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin "
    "BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
)


@dataclass(frozen=True, slots=True)
class RolePasswords:
    """Passwords that the roles are given; ASCII."""

    owner: str = field(repr=False)
    writer: str = field(repr=False)
    reader: str = field(repr=False)
    auth: str = field(repr=False)

    def of(self, role: Role) -> str:
        """Return the password of a role."""
        by_role = {
            Role.OWNER: self.owner,
            Role.WRITER: self.writer,
            Role.READER: self.reader,
            Role.AUTH: self.auth,
        }
        return by_role[role]


async def bootstrap_server(superuser: asyncpg.Connection, passwords: RolePasswords) -> None:
    """Make the roles and the database; the caller holds the migration lock.

    Raises FailedPreconditionError on a server older than Postgres 17.
    """
    if await superuser.fetchval(_VERSION) < MINIMUM_VERSION:
        raise FailedPreconditionError(
            Reason.DATABASE_UNAVAILABLE, "Attest needs Postgres 17 or later; upgrade the server."
        )
    await superuser.execute(_sql("roles.sql"))
    for role in Role:
        await _set_password(superuser, role, passwords.of(role))
    if not await superuser.fetchval(_DATABASE_EXISTS, DATABASE):
        await superuser.execute(_CREATE_DATABASE)


async def bootstrap_database(superuser: DatabaseSettings) -> None:
    """Make schemas, extension, grants and role settings inside the database; the caller holds the migration lock."""
    async with connection(superuser.in_database(DATABASE)) as inside, inside.transaction():
        await inside.execute(_sql("bootstrap.sql"))


async def _set_password(superuser: asyncpg.Connection, role: Role, password: str) -> None:
    if scram.matches(password, await superuser.fetchval(_STORED_PASSWORD, role.value)):
        return
    await superuser.execute(await superuser.fetchval(_PASSWORD_STATEMENT, role.value, scram.verifier(password)))


def _sql(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
