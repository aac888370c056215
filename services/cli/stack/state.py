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

_LOCK = "supervisor.lock"
_STATE = "state.json"


class Phase(StrEnum):
    """Where the stack is in its life."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class PartState:
    """One process of the stack."""

    pid: int | None
    port: int | None
    state: str
    started_at: float


@dataclass(frozen=True, slots=True)
class StackState:
    """The whole stack."""

    phase: Phase
    pid: int
    started_at: float
    parts: Mapping[str, PartState] = field(default_factory=dict)
    error: str | None = None
    """Why it failed, with the last log lines of the part that died."""


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


def write_state(home: Path, state: StackState) -> None:
    """Put the state in place of the old one, whole."""
    fresh = home / f"{_STATE}.new"
    fresh.write_text(json.dumps(asdict(state), indent=2))
    fresh.replace(home / _STATE)


def read_state(home: Path) -> StackState | None:
    """Return the last state written; None when there is none."""
    try:
        raw: dict[str, Any] = json.loads((home / _STATE).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    parts = {name: PartState(**part) for name, part in raw.pop("parts").items()}
    return StackState(phase=Phase(raw.pop("phase")), parts=parts, **raw)


def forget_state(home: Path) -> None:
    """Take the state file away, so that an older run's is not read as this one's."""
    (home / _STATE).unlink(missing_ok=True)
