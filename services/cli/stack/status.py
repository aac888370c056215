"""What the local stack is and holds, gathered from outside, so that it can be told while the stack is down."""

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.cli.stack.cluster import Cluster
from services.cli.stack.gateway import envoy_version
from services.cli.stack.home import attest_version
from services.cli.stack.placement import PlacementError, binaries_version, pgvector_version, place
from services.cli.stack.secrets import SecretsError, load
from services.cli.stack.settings import HomeSettings
from services.cli.stack.space import free_bytes
from services.cli.stack.state import Phase, StackState, is_running, read_state
from services.common.errors import DomainError
from services.common.postgres.connect import connect
from services.common.postgres.failures import domain_error
from services.common.postgres.settings import DATABASE, DatabaseSettings

CONNECT_SECONDS = 3.0
_QUERY_SECONDS = 10.0
_BLOCK_BYTES = 512

# The superuser of the local stack sees past row-level security; every other role sees one tenant at a time.
_CONTENTS = """
SELECT
  (SELECT count(*) FROM attest.documents) AS documents,
  (SELECT coalesce(sum(chunks), 0)::bigint FROM attest.chunk_counts) AS chunks,
  (SELECT max(version) FROM attest.schema_migrations) AS schema
"""
_SPACE = "SELECT space_id, model, dimensions FROM attest.embedding_spaces WHERE state = 'ACTIVE'"
_VERSIONS = """
SELECT current_setting('server_version') AS postgres,
  (SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'vector') AS pgvector
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """What the database holds, of all tenants."""

    documents: int
    chunks: int
    schema: str
    embedding_space: dict[str, Any] | None
    """Id, model and dimensions of the active space; None before the first document."""


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes on the disk; None where this account may not look."""

    data: int | None
    logs: int | None
    free: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that `attest status` says."""

    home: Path
    state: StackState | None
    """None when no supervisor runs."""
    versions: dict[str, str | None]
    contents: Contents | None
    database: str
    """`reachable`, or why it is not."""
    disk: Disk

    @property
    def phase(self) -> Phase:
        """Return where the stack is in its life."""
        return self.state.phase if self.state else Phase.STOPPED

    @property
    def whole(self) -> bool:
        """Say whether the stack is ready with every part running."""
        state = self.state
        return state is not None and state.phase is Phase.READY and all(p.pid for p in state.parts.values())


def gather(settings: HomeSettings) -> Report:
    """Look at everything; takes some seconds at most and raises nothing for what is down or damaged."""
    state = read_state(settings.home) if is_running(settings.home) else None
    versions = {"attest": attest_version(), **_installed_versions()}
    contents, database = None, "not running"
    server = state.parts.get("postgres") if state else None
    if server is not None:
        contents, database, served = asyncio.run(ask_database(settings.home, server.port))
        versions |= served
    return Report(settings.home, state, versions, contents, database, _disk(settings))


def described(report: Report, now: float) -> dict[str, Any]:
    """Return the report as JSON would have it; `now` in seconds since 1970."""
    state = report.state
    parts = {}
    for name, part in (state.parts if state else {}).items():
        uptime = round(now - part.started_at, 1) if part.pid else None
        parts[name] = {field: getattr(part, field) for field in part.__dataclass_fields__} | {"uptime_s": uptime}
    contents = report.contents
    return {
        "home": str(report.home),
        "gateway": state.gateway if state else None,
        "phase": report.phase,
        "whole": report.whole,
        "pid": state.pid if state else None,
        "started_at": state.started_at if state else None,
        "uptime_s": round(now - state.started_at, 1) if state else None,
        "warning": state.warning if state else None,
        "error": state.error if state else None,
        "parts": parts,
        "versions": report.versions,
        "database": report.database,
        "documents": contents.documents if contents else None,
        "chunks": contents.chunks if contents else None,
        "schema": contents.schema if contents else None,
        "embedding_space": contents.embedding_space if contents else None,
        "disk": {"data_bytes": report.disk.data, "logs_bytes": report.disk.logs, "free_bytes": report.disk.free},
    }


def now() -> float:
    """Return the seconds since 1970."""
    return time.time()


async def ask_database(home: Path, port: int) -> tuple[Contents | None, str, dict[str, str]]:
    """Return what the database holds, `reachable` or why it is not, and the versions that it names."""
    try:
        secrets = load(home)
    except (SecretsError, OSError):
        secrets = None
    if secrets is None:
        return None, "unknown: secrets.json cannot be read", {}
    way = Cluster(home, port, secrets).superuser.in_database(DATABASE)
    try:
        async with asyncio.timeout(_QUERY_SECONDS):
            return await _query(way)
    except TimeoutError:
        return None, "slow: it did not answer in time", {}
    except DomainError as error:
        return None, f"down: {error.message}", {}


async def _query(way: DatabaseSettings) -> tuple[Contents, str, dict[str, str]]:
    connection = await connect(way, CONNECT_SECONDS)
    try:
        versions = dict(await connection.fetchrow(_VERSIONS))
        counted = await connection.fetchrow(_CONTENTS)
        space = await connection.fetchrow(_SPACE)
        return Contents(**counted, embedding_space=dict(space) if space else None), "reachable", versions
    except Exception as error:
        named = domain_error(error)
        if named is None:
            raise
        raise named from error
    finally:
        await connection.close(timeout=2)


def _installed_versions() -> dict[str, str | None]:
    """Return what is installed, which is what the local stack runs."""
    postgres = ".".join(binaries_version().split(".")[:2])  # the third number is the package's own
    return {"postgres": postgres, "pgvector": pgvector_version(), "envoy": envoy_version()}


def _disk(settings: HomeSettings) -> Disk:
    try:
        data = _used(place(settings.home, settings.pg_user).base) if settings.home.is_dir() else None
    except (PlacementError, OSError):
        data = None
    try:
        free = free_bytes(settings.home)
    except OSError:
        free = None
    return Disk(data, _used(settings.logs), free)


def _used(folder: Path) -> int | None:
    """Return the bytes that the files of a folder take on the disk; what goes away meanwhile counts nothing."""
    return sum(_sizes(folder)) if folder.is_dir() else None


def _sizes(folder: Path) -> Iterator[int]:
    for place_of_files, _, names in os.walk(folder):
        for name in names:
            try:
                yield os.lstat(f"{place_of_files}/{name}").st_blocks * _BLOCK_BYTES
            except OSError:
                continue
