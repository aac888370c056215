"""What the supervisor tells others: a lock that says it lives, and a file that says how its parts are."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from services.cli.stack.leftovers import holders

_LOCK = "supervisor.lock"
_STATE = "state.json"


class Phase(StrEnum):
    """Where the stack is in its life."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"


class Condition(StrEnum):
    """How a part is."""

    RUNNING = "running"
    RESTARTING = "restarting"
    """It ended by itself and is started again after a pause."""
    DOWN = "down"
    """It ended too often and stays down until `attest up`."""
    ENDED = "ended"
    """It ended while the stack was starting or stopping."""


@dataclass(frozen=True, slots=True)
class PartState:
    """One process of the stack."""

    pid: int | None
    """None while it does not run."""
    port: int
    state: Condition
    started_at: float
    """When the process that runs, or the last one that did, was started."""
    restarts: int = 0
    """How often it was started again since the stack was started."""
    last_end: str | None = None
    """How it ended last. Example: `killed by SIGKILL`."""
    detail: str | None = None
    """Why it does not run, with its last log lines where it stays down."""


@dataclass(frozen=True, slots=True)
class StackState:
    """The whole stack."""

    phase: Phase
    pid: int
    started_at: float
    parts: Mapping[str, PartState] = field(default_factory=dict)
    warning: str | None = None
    """What needs somebody's attention while the stack goes on. Example: the disk is nearly full."""
    error: str | None = None
    """Why it failed, with the last log lines of the part that died."""
    gateway: str | None = None
    """Address of the gateway as seen from this machine; None where an older supervisor wrote the state."""
    settings: Mapping[str, str] | None = None
    """Fingerprints of the settings that it was started with; None where an older supervisor wrote the state."""


class AlreadyRunningError(Exception):
    """Another supervisor holds the lock of this home."""


@contextmanager
def supervisor_lock(home: Path) -> Iterator[None]:
    """Hold the lock of the home; raise AlreadyRunningError when somebody else does. The kernel frees it at death."""
    descriptor = os.open(home / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError from None
        yield
    finally:
        os.close(descriptor)


def is_running(home: Path) -> bool:
    """Say whether a supervisor of this home lives."""
    if not (home / _LOCK).exists():
        return False
    try:
        with supervisor_lock(home):
            return False
    except AlreadyRunningError:
        return True


def supervisor_pid(home: Path) -> int | None:
    """Return the process that holds the home's lock as a supervisor; None when none is seen."""
    for pid in holders(home / _LOCK):
        try:
            if b"services.cli.stack.supervisor" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        except OSError:
            continue
    return None


def write_state(home: Path, state: StackState) -> None:
    """Put the state in place of the old one, whole; raises OSError, as on a full disk."""
    fresh = home / f"{_STATE}.new"
    fresh.write_text(json.dumps(asdict(state), indent=2))
    fresh.replace(home / _STATE)


def read_state(home: Path) -> StackState | None:
    """Return the last state written; None when there is none, or none that can be read."""
    try:
        raw: dict[str, Any] = json.loads((home / _STATE).read_text(encoding="utf-8"))
        parts = {name: _part_state(part) for name, part in raw.pop("parts").items()}
        return StackState(phase=Phase(raw.pop("phase")), parts=parts, **raw)
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _part_state(raw: dict[str, Any]) -> PartState:
    return PartState(state=Condition(raw.pop("state")), **raw)


def forget_state(home: Path) -> None:
    """Take the state file away, so that an older run's is not read as this one's."""
    (home / _STATE).unlink(missing_ok=True)
