"""Fills an empty home from a backup."""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from services.cli.hints import command
from services.cli.stack import parts
from services.cli.stack.archive import Manifest, open_archive
from services.cli.stack.cluster import Cluster, ClusterError
from services.cli.stack.home import (
    HomeError,
    being_restored,
    forget_unfinished_restore,
    half_restored,
    launch_lock,
    make_home,
    raise_stamp,
)
from services.cli.stack.launcher import LEFTOVER_SECONDS, LaunchError, check_ports
from services.cli.stack.leftovers import LeftoversError, end_leftovers, parts_lock
from services.cli.stack.part import Part
from services.cli.stack.placement import PlacementError, place
from services.cli.stack.secrets import FILE_NAME, SecretsError, adopt_keys
from services.cli.stack.settings import StackSettings
from services.cli.stack.starting import StartError, all_alive
from services.cli.stack.state import AlreadyRunningError, forget_state, supervisor_lock
from services.common.errors import DomainError
from services.common.postgres.bootstrap import bootstrap_server
from services.common.postgres.connect import connection
from services.common.postgres.migrate import MigrationError, migrate
from services.common.postgres.schema import expected_version
from services.common.postgres.settings import DATABASE, Role

_TURN_SECONDS = 5.0
_START_SECONDS = 60.0


class RestoreError(Exception):
    """The backup could not be restored; the message says why, and nothing of the home has changed."""


def restore(settings: StackSettings, file: Path, *, force: bool = False) -> tuple[Manifest, Path | None]:
    """Fill the home from a backup; return what it held, and where the data that was there before has gone.

    A home with data is refused unless `force` is given, and its data are moved aside then, not removed. The stack is
    down before and after. Raises RestoreError or ArchiveError.
    """
    home = settings.home
    with open_archive(file) as (manifest, keys, dump):
        if manifest.schema > expected_version():
            raise RestoreError(f"The backup was made by Attest {manifest.attest}, which is newer; use that version.")
        try:
            make_home(home)
            with launch_lock(home, _TURN_SECONDS), supervisor_lock(home):
                end_leftovers(home, LEFTOVER_SECONDS)
                check_ports({"ATTEST_PG_PORT": ("127.0.0.1", settings.pg_port)})
                forget_state(home)
                aside = _make_room(settings, force=force)
                with parts_lock(home) as held, being_restored(home):
                    secrets = adopt_keys(home, keys.question_salt, keys.content_key)
                    cluster = Cluster(home, settings.pg_port, secrets, account_name=settings.pg_user)
                    with _undone_on_failure(cluster, aside):
                        cluster.prepare()
                        asyncio.run(_fill(settings, cluster, held, dump))
                    raise_stamp(home)
        except AlreadyRunningError:
            raise RestoreError(f"Attest runs in {home}; stop it first: {command('down')}") from None
        except DomainError as error:
            raise RestoreError(error.message) from error
        except (
            HomeError,
            LaunchError,
            LeftoversError,
            SecretsError,
            ClusterError,
            PlacementError,
            StartError,
            MigrationError,
        ) as error:
            raise RestoreError(str(error)) from error
    return manifest, aside


def _make_room(settings: StackSettings, *, force: bool) -> Path | None:
    """Leave no data in the home: what an unfinished restore left is removed, real data are moved aside when forced."""
    data = place(settings.home, settings.pg_user).data
    secrets = settings.home / FILE_NAME
    if half_restored(settings.home):
        shutil.rmtree(data, ignore_errors=True)
        return None
    if not data.exists():
        return None
    if not secrets.exists():
        raise RestoreError(f"{settings.home} holds data without its {FILE_NAME}; move it away, or name another home.")
    if not force:
        raise RestoreError(
            f"{settings.home} holds data; restore into an empty ATTEST_HOME, or say --force to move these aside."
        )
    aside = data.with_name(f"data.before-restore-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    shutil.copy2(secrets, _kept_secrets(settings.home, aside))
    data.rename(aside)
    return aside


@contextmanager
def _undone_on_failure(cluster: Cluster, aside: Path | None) -> Iterator[None]:
    """Leave the home as it was when the block fails."""
    try:
        yield
    except BaseException:
        shutil.rmtree(cluster.data, ignore_errors=True)
        if aside is not None:
            aside.rename(cluster.data)
            _kept_secrets(cluster.home, aside).replace(cluster.home / FILE_NAME)
        forget_unfinished_restore(cluster.home)
        raise


def _kept_secrets(home: Path, aside: Path) -> Path:
    return home / f"{FILE_NAME}.{aside.name.removeprefix('data.')}"


async def _fill(settings: StackSettings, cluster: Cluster, held: int, dump: IO[bytes]) -> None:
    server = await Part.start(parts.postgres(cluster), settings.logs, (held,))
    try:
        await all_alive([server], cluster.wait_ready(_START_SECONDS))
        async with connection(cluster.superuser) as superuser:
            await bootstrap_server(superuser, cluster.passwords)
        await asyncio.to_thread(_load, cluster, dump)
        # Brings an older backup to this version's schema, and what a dump does not hold of the database's own settings.
        await migrate(cluster.role(Role.OWNER), superuser=cluster.superuser, passwords=cluster.passwords)
    finally:
        await server.stop()


def _load(cluster: Cluster, dump: IO[bytes]) -> None:
    """Load a dump into the empty database, all of it or nothing."""
    way = cluster.superuser.in_database(DATABASE)
    argv = [
        *(str(cluster.binaries / "pg_restore"), "--single-transaction", "--exit-on-error", "--no-password"),
        *(f"--host={way.host}", f"--port={way.port}", f"--username={way.user}", f"--dbname={way.database}"),
    ]
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(argv, env=cluster.client_environment(), stdin=subprocess.PIPE, stderr=said) as process:
            assert process.stdin is not None  # noqa: S101  # asked for above
            # When it ends early its exit code and its words say why.
            with suppress(BrokenPipeError):
                shutil.copyfileobj(dump, process.stdin, 1024 * 1024)
            with suppress(BrokenPipeError):
                process.stdin.close()
        if process.returncode != 0:
            said.seek(0)
            raise RestoreError(f"pg_restore failed: {said.read().decode(errors='replace').strip()[-2000:]}")
