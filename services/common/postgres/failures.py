"""What a failure of asyncpg or of Postgres means in terms of the caller."""

import asyncpg
from asyncpg import exceptions as pg

from services.common.errors import AbortedError, DomainError, Reason, ResourceExhaustedError, UnavailableError

_UNREACHABLE = (
    pg.PostgresConnectionError,  # class 08
    pg.CannotConnectNowError,
    pg.AdminShutdownError,
    pg.CrashShutdownError,
    pg.TooManyConnectionsError,
    pg.InvalidAuthorizationSpecificationError,  # class 28
    pg.InvalidCatalogNameError,
    pg.InterfaceError,
    # What asyncpg raises when the server's farewell and our next statement cross on the wire.
    pg.InternalClientError,
)
_NOT_MIGRATED = (pg.UndefinedTableError, pg.UndefinedFunctionError, pg.UndefinedColumnError, pg.InvalidSchemaNameError)
_BUSY = (pg.QueryCanceledError, pg.LockNotAvailableError)
# The local supervisor makes the database read-only while its disk is nearly full.
_FULL = (pg.DiskFullError, pg.ReadOnlySQLTransactionError)
_MET = (pg.DeadlockDetectedError, pg.SerializationError)


def domain_error(error: Exception) -> DomainError | None:
    """Return what `error` means to a caller, or None when it is a fault of ours."""
    if isinstance(error, _NOT_MIGRATED):
        return unmigrated()
    if isinstance(error, (*_BUSY, TimeoutError)):
        return ResourceExhaustedError(Reason.SERVICE_BUSY, "The database took too long; try again.")
    if isinstance(error, pg.OutOfMemoryError):
        return ResourceExhaustedError(Reason.SERVICE_BUSY, "The database has run out of memory; try again.")
    if isinstance(error, _FULL):
        return ResourceExhaustedError(
            Reason.STORAGE_FULL,
            "The database takes no writes, since its disk is full or nearly so; free some space, then try again.",
        )
    if isinstance(error, _MET):
        return AbortedError(Reason.SERVICE_BUSY, "Two writers met; try again.")
    if isinstance(error, (*_UNREACHABLE, OSError)):
        return unreachable()
    return None


def unreachable() -> UnavailableError:
    """Return the error for a database that does not let us in."""
    return UnavailableError(Reason.DATABASE_UNAVAILABLE, "The database cannot be reached; try again.")


def unmigrated() -> UnavailableError:
    """Return the error for a database without the schema that this program needs."""
    return UnavailableError(
        Reason.DATABASE_UNAVAILABLE, "The database is not migrated yet; run `attest migrate`, then try again."
    )


def sqlstate(error: asyncpg.PostgresError) -> str:
    """Return the five characters by which Postgres names the failure."""
    return str(error.sqlstate)
