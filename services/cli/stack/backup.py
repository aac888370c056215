"""Backs up a running stack: one snapshot of the database, and the keys that it is bound to."""

import asyncio
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from services.cli.hints import command
from services.cli.stack.archive import FORMAT, Keys, Manifest, new_archive
from services.cli.stack.cluster import Cluster
from services.cli.stack.home import attest_version
from services.cli.stack.secrets import SecretsError, load
from services.cli.stack.settings import DataSettings
from services.cli.stack.state import is_running
from services.cli.stack.status import ask_database
from services.common.postgres.settings import DATABASE


class BackupError(Exception):
    """The backup could not be made; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made."""

    manifest: Manifest
    size_bytes: int


def back_up(settings: DataSettings, file: Path, *, replace: bool = False) -> Made:
    """Write a backup of the running stack to `file`; ingests may go on, and are in it whole or not at all.

    Raises BackupError or ArchiveError.
    """
    if not is_running(settings.home):
        raise BackupError(f"Attest is not running in {settings.home}; start it first: {command('up')}")
    try:
        secrets = load(settings.home)
    except (SecretsError, OSError) as error:
        raise BackupError(f"The secrets of {settings.home} cannot be read: {error}") from error
    if secrets is None:
        raise BackupError(f"The secrets of {settings.home} are not whole.")
    cluster = Cluster(settings.home, settings.pg_port, secrets, account_name=settings.pg_user)
    contents, database, versions = asyncio.run(ask_database(settings.home, settings.pg_port))
    if contents is None:
        raise BackupError(f"The database is {database}")
    manifest = Manifest(
        format=FORMAT,
        attest=attest_version(),
        schema=contents.schema,
        postgres=versions["postgres"],
        created_at=time.time(),
        documents=contents.documents,
        chunks=contents.chunks,
    )
    keys = Keys(secrets.question_salt, secrets.content_key)
    with new_archive(file, manifest, keys, replace=replace) as dump:
        _dump(cluster, dump)
    return Made(manifest, file.stat().st_size)


def _dump(cluster: Cluster, into: IO[bytes]) -> None:
    """Write a dump of the database: one transaction's view of it, in the format that `pg_restore` reads from a pipe."""
    way = cluster.superuser.in_database(DATABASE)
    argv = [
        *(str(cluster.binaries / "pg_dump"), "--format=custom", "--no-password", "--lock-wait-timeout=60s"),
        *(f"--host={way.host}", f"--port={way.port}", f"--username={way.user}", way.database),
    ]
    with tempfile.TemporaryFile() as said:
        # The password stands in the environment only, never among the arguments that others can list.
        with subprocess.Popen(argv, env=cluster.client_environment(), stdout=subprocess.PIPE, stderr=said) as process:
            try:
                assert process.stdout is not None  # noqa: S101  # asked for above
                shutil.copyfileobj(process.stdout, into, 1024 * 1024)
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            said.seek(0)
            raise BackupError(f"pg_dump failed: {said.read().decode(errors='replace').strip()[-2000:]}")
