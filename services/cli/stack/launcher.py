"""Starts and ends the detached supervisor, from the side of the person who asked."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from services.cli.stack.part import tail
from services.cli.stack.settings import StackSettings
from services.cli.stack.state import Phase, StackState, forget_state, is_running, read_state

_POLL_SECONDS = 0.05
_STOP_SECONDS = 90.0


class LaunchError(Exception):
    """The stack could not be started or stopped; the message says why and what to do."""


def up(settings: StackSettings, on_state: Callable[[StackState], None] = lambda _: None) -> bool:
    """Start the stack and return once it is ready: True when it was started, False when it ran already.

    Raises LaunchError; nothing is left running then, nor after Ctrl-C.
    """
    if is_running(settings.home):
        return False
    _make_home(settings)
    _check_ports(settings)
    forget_state(settings.home)
    supervisor = _spawn(settings)
    try:
        _wait_ready(settings, supervisor, on_state)
    except BaseException:
        supervisor.send_signal(signal.SIGTERM)
        supervisor.wait(_STOP_SECONDS)
        raise
    return True


def down(settings: StackSettings) -> bool:
    """Stop the stack and return once all of it has ended; False when it did not run."""
    state = read_state(settings.home)
    if not is_running(settings.home) or state is None:
        return False
    os.kill(state.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while is_running(settings.home) or _lives(state.pid):
        if time.monotonic() > deadline:
            raise LaunchError(f"The supervisor (pid {state.pid}) did not end within {_STOP_SECONDS:.0f} s.")
        time.sleep(_POLL_SECONDS)
    return True


def _lives(pid: int) -> bool:
    """Say whether a supervisor has this pid: the lock is free a moment before its process has ended."""
    try:
        return b"services.cli.stack.supervisor" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _make_home(settings: StackSettings) -> None:
    try:
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o755 if os.geteuid() == 0 else 0o700)
        settings.logs.mkdir(exist_ok=True)
    except OSError as error:
        raise LaunchError(
            f"Cannot make the folder {settings.home} ({error.strerror}); set ATTEST_HOME to one that you may write to."
        ) from error


def _check_ports(settings: StackSettings) -> None:
    seen: dict[tuple[str, int], str] = {}
    for variable, place in settings.taken_ports().items():
        if place in seen:
            raise LaunchError(f"{variable} and {seen[place]} are both {place[1]}; give each a port of its own.")
        seen[place] = variable
        _check_port(variable, *place)


def _check_port(variable: str, host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the servers do: a port in TIME_WAIT is not taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise LaunchError(
                    f"Port {port} ({variable}) is taken. Free it, or set {variable} to another port."
                ) from None
            raise LaunchError(f"Cannot listen on {host}:{port} ({variable}): {error.strerror}.") from None


def _spawn(settings: StackSettings) -> subprocess.Popen[bytes]:
    with _supervisor_log(settings).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "services.cli.stack.supervisor"],
            cwd=settings.home,
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
