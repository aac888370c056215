"""The embedded Postgres of the local stack: made once, configured at each start, run by whoever supervises it."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.cli.stack.configuration import host_rules, server_settings
from services.cli.stack.part import die_with
from services.cli.stack.placement import Placement, binaries_version, make_folders, place
from services.cli.stack.secrets import Secrets
from services.common.postgres.bootstrap import RolePasswords
from services.common.postgres.connect import wait_reachable
from services.common.postgres.settings import DATABASE, DatabaseSettings, Role

SUPERUSER = "postgres"
STOP_SIGNAL = signal.SIGINT
"""Asks postgres for a fast shutdown: sessions are ended, data is written."""
INITDB_TIMEOUT_S = 120.0


class ClusterError(Exception):
    """The cluster could not be made; the message ends with what initdb said."""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How to start `postgres` in the foreground; it logs to stderr."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    user: int | None
    group: int | None
    extra_groups: Sequence[int] | None

    def popen_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of `subprocess.Popen` beside the pipes."""
        arguments: dict[str, Any] = {"env": dict(self.env), "cwd": self.cwd}
        if self.user is not None:
            arguments |= {"user": self.user, "group": self.group, "extra_groups": self.extra_groups}
        return arguments


@dataclass(frozen=True, slots=True)
class Cluster:
    """One Postgres on 127.0.0.1; `durable=False` is for tests, it may lose data in a crash."""

    home: Path
    port: int
    secrets: Secrets = field(repr=False)
    account_name: str = "nobody"
    durable: bool = True

    def prepare(self) -> None:
        """Make folders, data and configuration; blocks for seconds the first time, changes no data after that.

        Raises PlacementError or ClusterError. A cluster whose making was interrupted is made anew.
        """
        self.home.mkdir(parents=True, exist_ok=True, mode=0o755 if os.geteuid() == 0 else 0o700)
        placement = self._placement()
        make_folders(placement, self.home)
        if not placement.data.exists():
            self._initdb(placement)
        _check_major_version(placement)
        _forget_dead_server(placement)
        self.configure()
        _write(placement.base / "pg_hba.conf", host_rules(SUPERUSER))
        _write(placement.base / "pg_ident.conf", "")

    def configure(self, *, read_only: bool = False) -> None:
        """Write the server's settings, which a running server reads at SIGHUP; raises OSError."""
        base = self._placement().base
        _write(base / "postgresql.conf", server_settings(base, self.port, self.durable, read_only=read_only))

    @property
    def data(self) -> Path:
        """Return the folder of the data, which may not be there yet."""
        return self._placement().data

    @property
    def binaries(self) -> Path:
        """Return the folder of the programs of Postgres."""
        return self._placement().binaries

    def command(self) -> ServerCommand:
        """Return how to start the server; `prepare` comes first."""
        placement = self._placement()
        argv = (
            str(placement.binaries / "postgres"),
            "-D",
            str(placement.data),
            "-c",
            f"config_file={placement.base / 'postgresql.conf'}",
        )
        account = placement.account
        return ServerCommand(
            argv,
            _environment(),
            placement.base,
            account.uid if account else None,
            account.gid if account else None,
            [] if account else None,
        )

    async def wait_ready(self, timeout_s: float) -> None:
        """Return once the server answers; raise UnavailableError when it does not within `timeout_s`."""
        await wait_reachable(self.superuser, timeout_s)

    def client_environment(self) -> dict[str, str]:
        """Return the environment in which the client programs of Postgres enter as the superuser."""
        return {**_environment(), "PGPASSWORD": self.secrets.superuser_password}

    @property
    def superuser(self) -> DatabaseSettings:
        """Return the superuser's connection to the maintenance database."""
        return DatabaseSettings("127.0.0.1", self.port, "postgres", SUPERUSER, self.secrets.superuser_password)

    def role(self, role: Role) -> DatabaseSettings:
        """Return a role's connection to the database of Attest."""
        return DatabaseSettings("127.0.0.1", self.port, DATABASE, role.value, self.passwords.of(role))

    @property
    def passwords(self) -> RolePasswords:
        """Return the passwords that the bootstrap gives to the roles."""
        known = self.secrets
        return RolePasswords(known.owner_password, known.writer_password, known.reader_password, known.auth_password)

    def _placement(self) -> Placement:
        return place(self.home, self.account_name)

    def _initdb(self, placement: Placement) -> None:
        unfinished = placement.data.with_name("data.new")
        password_file = placement.base / "initdb.password"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        _write(password_file, self.secrets.superuser_password, mode=0o600)
        try:
            if placement.account is not None:
                for path in (unfinished, password_file):
                    os.chown(path, placement.account.uid, placement.account.gid)
            self._run_initdb(placement, unfinished, password_file)
        finally:
            password_file.unlink(missing_ok=True)
        unfinished.rename(placement.data)

    def _run_initdb(self, placement: Placement, data: Path, password_file: Path) -> None:
        argv = [
            str(placement.binaries / "initdb"),
            f"--pgdata={data}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            "--data-checksums",
            "--no-instructions",
            *([] if self.durable else ["--no-sync"]),
        ]
        account = placement.account
        done = subprocess.run(
            argv,
            env=_environment(),
            cwd=placement.base,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INITDB_TIMEOUT_S,
            check=False,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            preexec_fn=die_with(os.getpid(), signal.SIGKILL),  # calls prctl and nothing else
        )
        if done.returncode != 0:
            raise ClusterError(f"initdb failed: {done.stderr.strip()[-2000:]}")


async def prepare(cluster: Cluster) -> None:
    """Run `Cluster.prepare` beside the event loop."""
    await asyncio.to_thread(cluster.prepare)


def _check_major_version(placement: Placement) -> None:
    """Raise ClusterError when the data is of another Postgres than the installed one."""
    stored = (placement.data / "PG_VERSION").read_text(encoding="ascii").strip()
    installed = binaries_version().split(".", 1)[0]
    if stored != installed:
        raise ClusterError(
            f"{placement.data} is of Postgres {stored} and this Attest brings Postgres {installed}: "
            "make a backup with the Attest that wrote it, and restore that into an empty ATTEST_HOME."
        )


def _forget_dead_server(placement: Placement) -> None:
    """Take away the pid file of a server that was killed, since its pid may by now be somebody else's."""
    file = placement.data / "postmaster.pid"
    try:
        pid = int(file.read_text(encoding="utf-8").split("\n", 1)[0])
    except FileNotFoundError:
        return
    except ValueError:
        pid = 0
    try:
        alive = os.fsencode(placement.data) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        alive = False
    if alive:
        raise ClusterError(f"Another Postgres (pid {pid}) runs on {placement.data}; end it and try again.")
    file.unlink()


def _environment() -> dict[str, str]:
    return {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    """Put a file in place whole; a file with the same text is left alone."""
    if path.exists() and mode == 0o644 and path.read_text(encoding="utf-8") == text:
        return
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
    temporary.replace(path)
