"""Starts and ends the detached supervisor, from the side of the person who asked."""

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx2

from services.cli.hints import command
from services.cli.stack.cluster import Cluster
from services.cli.stack.environment import differing
from services.cli.stack.home import HomeError, check_usable, launch_lock, make_home
from services.cli.stack.interruption import Interruptions, interruptible
from services.cli.stack.leftovers import LeftoversError, end_leftovers
from services.cli.stack.part import tail
from services.cli.stack.secrets import SecretsError, load_or_create
from services.cli.stack.settings import HomeSettings, StackSettings
from services.cli.stack.state import (
    Condition,
    Phase,
    StackState,
    forget_state,
    is_running,
    read_state,
    supervisor_pid,
)
from services.common.errors import DomainError

_POLL_SECONDS = 0.05
_STOP_SECONDS = 90.0
_START_SECONDS = 75.0
"""Longest wait for another command that starts the same stack; a start itself is bounded by the supervisor."""
_ANSWER_SECONDS = 2.0
_PATHS = ("ATTEST_LANES_FILE", "ATTEST_INGEST_SPOOL_FOLDER", "ATTEST_EMBEDDING_TOKENIZER")
"""Settings that name a place, which one may do from where one is."""
LEFTOVER_SECONDS = 10.0
"""Time that the parts of a killed supervisor get to end well."""


class LaunchError(Exception):
    """The stack could not be started or stopped; the message says why and what to do."""


def up(settings: StackSettings, on_state: Callable[[StackState], None] = lambda _: None) -> bool:
    """Start the stack, or the parts of it that are down, and return once it is ready; False when all of it ran already.

    Heals what a killed stack left. Raises LaunchError, and KeyboardInterrupt after Ctrl-C or SIGTERM; nothing is left
    running then that did not run before.
    """
    try:
        make_home(settings.home)
        with interruptible() as interruptions, launch_lock(settings.home, _START_SECONDS):
            if is_running(settings.home):
                return _revive(settings)
            check_usable(settings.home)
            end_leftovers(settings.home, LEFTOVER_SECONDS)
            check_ports(settings.taken_ports())
            forget_state(settings.home)
            _start(settings, on_state, interruptions)
    except (HomeError, LeftoversError, SecretsError) as error:
        raise LaunchError(str(error)) from error
    return True


def changed_settings(settings: HomeSettings) -> list[str]:
    """Return the variables that are set otherwise now than for the stack that runs; empty where that is not known."""
    state = read_state(settings.home)
    if state is None or state.settings is None:
        return []
    return differing(state.settings, {**os.environ, **_given_paths()})


def down(settings: HomeSettings) -> bool:
    """Stop the stack and return once all of it has ended; False when nothing of it ran. Raises LaunchError."""
    if not settings.home.is_dir():
        return False
    ran = is_running(settings.home)
    if ran:
        _end_supervisor(settings)
    try:
        return end_leftovers(settings.home, LEFTOVER_SECONDS) or ran
    except LeftoversError as error:
        raise LaunchError(str(error)) from error


def _end_supervisor(settings: HomeSettings) -> None:
    deadline = time.monotonic() + _STOP_SECONDS
    pid = None
    while is_running(settings.home) or (pid is not None and _lives(pid)):
        if pid is None:
            pid = supervisor_pid(settings.home)
            if pid is not None:
                _signal(pid, signal.SIGTERM)
        if time.monotonic() > deadline:
            named = "its pid is not visible to this account" if pid is None else f"pid {pid}"
            raise LaunchError(f"The supervisor did not end within {_STOP_SECONDS:.0f} s ({named}).")
        time.sleep(_POLL_SECONDS)


def _start(settings: StackSettings, on_state: Callable[[StackState], None], interruptions: Interruptions) -> None:
    supervisor = None
    try:
        with interruptions.held_back():
            supervisor = _spawn(settings)
        _wait_ready(settings, supervisor, on_state)
    except BaseException:
        if supervisor is not None:
            with interruptions.held_back():
                _end(supervisor, settings)
        raise


def _end(supervisor: subprocess.Popen[bytes], settings: HomeSettings) -> None:
    """End a supervisor that is starting, and its parts; the kernel tells them when it had to be killed."""
    supervisor.send_signal(signal.SIGTERM)
    try:
        supervisor.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
        end_leftovers(settings.home, LEFTOVER_SECONDS)


def _revive(settings: StackSettings) -> bool:
    """Have a running supervisor start what is down; say whether anything was."""
    deadline = time.monotonic() + _START_SECONDS
    asked = False
    while True:
        state = read_state(settings.home)
        if state is not None and state.phase is Phase.READY:
            if (
                _all_run(state)
                and _database_answers(settings, state)
                and _answers(state.gateway or settings.gateway_url)
            ):
                return asked
            if not asked and not _all_run(state):
                _signal(supervisor_pid(settings.home) or state.pid, signal.SIGHUP)
                asked = True
        if not is_running(settings.home):
            raise LaunchError(f"The stack ended meanwhile; run `{command('up')}` again.")
        if time.monotonic() > deadline:
            raise LaunchError(f"The stack runs and is not whole; `{command('status')}` says what is wrong.")
        time.sleep(_POLL_SECONDS)


def _all_run(state: StackState) -> bool:
    return all(part.state is Condition.RUNNING for part in state.parts.values())


def _database_answers(settings: StackSettings, state: StackState) -> bool:
    """Say whether Postgres takes connections: the services tell of a database that went away only seconds later."""
    secrets = load_or_create(settings.home, has_data=True)
    port = state.parts["postgres"].port if "postgres" in state.parts else settings.pg_port
    cluster = Cluster(settings.home, port, secrets, account_name=settings.pg_user)
    try:
        asyncio.run(cluster.wait_ready(_ANSWER_SECONDS))
    except DomainError:
        return False
    return True


def _answers(gateway: str) -> bool:
    try:
        return httpx2.get(f"{gateway}/readyz", timeout=_ANSWER_SECONDS, trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    except PermissionError:
        raise LaunchError(f"The stack belongs to another account (pid {pid}); ask as that one.") from None


def _lives(pid: int) -> bool:
    """Say whether a supervisor has this pid: the lock is free a moment before its process has ended."""
    try:
        return b"services.cli.stack.supervisor" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def check_ports(ports: Mapping[str, tuple[str, int]]) -> None:
    """Raise LaunchError when one of the ports, by the variable that names it, is given twice or taken."""
    seen: dict[int, str] = {}
    for variable, (host, port) in ports.items():
        if port in seen:
            raise LaunchError(f"{variable} and {seen[port]} are both {port}; give each a port of its own.")
        seen[port] = variable
        _check_port(variable, host, port)


def _check_port(variable: str, host: str, port: int) -> None:
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
            # As the servers do: a port in TIME_WAIT is not taken.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LaunchError(
                f"Port {port} ({variable}) is taken. Free it, or set {variable} to another port."
            ) from None
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise LaunchError(f"{host} is no address of this machine; set ATTEST_BIND to one that is.") from None
        raise LaunchError(f"Cannot listen on {host}:{port} ({variable}): {error.strerror}.") from None


def _given_paths() -> dict[str, str]:
    given = {name: Path(os.environ[name]) for name in _PATHS if os.environ.get(name)}
    return {name: str(path.absolute()) for name, path in given.items() if path.exists()}


def _spawn(settings: StackSettings) -> subprocess.Popen[bytes]:
    with _supervisor_log(settings).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "services.cli.stack.supervisor"],
            cwd=settings.home,
            # A relative path would mean another place over there.
            env={**os.environ, **_given_paths(), "ATTEST_HOME": str(settings.home)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _wait_ready(
    settings: StackSettings, supervisor: subprocess.Popen[bytes], on_state: Callable[[StackState], None]
) -> None:
    while True:
        ended = supervisor.poll() is not None
        state = read_state(settings.home)
        if state is not None:
            on_state(state)
            if state.phase is Phase.READY:
                return
            if state.phase is Phase.FAILED and ended:
                raise LaunchError(state.error or "The stack failed to start.")
        if ended:
            raise LaunchError(
                f"The supervisor ended while starting. Its last log lines:\n{tail(_supervisor_log(settings), 15)}"
            )
        time.sleep(_POLL_SECONDS)


def _supervisor_log(settings: StackSettings) -> Path:
    return settings.logs / "supervisor.log"
