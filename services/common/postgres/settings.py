"""Where a database is and as whom to enter it."""

from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote, unquote, urlsplit

DATABASE = "attest"
"""Name of the database of Attest."""


class Role(StrEnum):
    """Roles of the database; none is a superuser, none passes by row-level security."""

    OWNER = "attest_owner"
    """Owns the schema; migrations run as this role, no service does."""
    WRITER = "attest_writer"
    """Ingest: reads and writes rows of one tenant at a time."""
    READER = "attest_reader"
    """Retrieval: reads rows of one tenant at a time, and can write nothing."""
    AUTH = "attest_auth"
    """Auth: reads the hashes of API keys."""


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """One way into one database."""

    host: str
    port: int
    database: str
    user: str
    password: str = field(repr=False)

    @classmethod
    def from_dsn(cls, dsn: str) -> "DatabaseSettings":
        """Read `postgresql://user:password@host:port/database`; raise ValueError, without quoting the DSN."""
        try:
            parts = urlsplit(dsn)
            port = parts.port or 5432
        except ValueError:
            parts, port = urlsplit(""), 0
        database = parts.path.removeprefix("/")
        if parts.scheme not in {"postgresql", "postgres"} or not (parts.hostname and parts.username and database):
            raise ValueError("a database URL has the form postgresql://user:password@host:port/database")
        return cls(parts.hostname, port, unquote(database), unquote(parts.username), unquote(parts.password or ""))

    @property
    def dsn(self) -> str:
        """Return the URL, password included: for the environment of a process, never for a log or an argument."""
        user, password = quote(self.user, safe=""), quote(self.password, safe="")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"postgresql://{user}:{password}@{host}:{self.port}/{quote(self.database, safe='')}"

    def in_database(self, database: str) -> "DatabaseSettings":
        """Return the same way into another database of the same server."""
        return DatabaseSettings(self.host, self.port, database, self.user, self.password)
