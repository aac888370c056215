"""The processes of a home: every one inherits a lock, so that what a killed supervisor left is known without doubt."""

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOCK = "parts.lock"
_POLL_SECONDS = 0.05
_KILLED_SECONDS = 10.0


class LeftoversError(Exception):
    """Processes of an earlier run hold the home and do not end; the message names them."""


@contextmanager
def parts_lock(home: Path) -> Iterator[int]:
    """Hold the lock that the parts inherit, and yield its descriptor; raise LeftoversError when an old part has it.

    A lock of `flock` belongs to the open file, so it is free only when every process that inherited it has ended.
    """
    descriptor = _open(home)
    try:
        if not _lock(descriptor):
            raise LeftoversError(_named(home))
        yield descriptor
    finally:
        os.close(descriptor)


def left(home: Path) -> bool:
    """Say whether a process that some supervisor of this home started still runs."""
    if not (home / _LOCK).exists():
        return False
    descriptor = _open(home)
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def end_leftovers(home: Path, patience_s: float) -> bool:
    """Wait until the parts of a killed supervisor have ended, kill those that take too long; False when none was there.

    The caller knows that no supervisor runs. Raises LeftoversError when something outlives even that.
    """
    if not left(home):
        return False
    if not _ends(home, patience_s):
        for pid in holders(home / _LOCK):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not _ends(home, _KILLED_SECONDS):
            raise LeftoversError(_named(home))
    return True


def holders(file: Path) -> list[int]:
    """Return the processes that have `file` open, this one left out; those of other accounts are not seen."""
    try:
        wanted = file.stat()
    except FileNotFoundError:
        return []
    others = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in others if pid != os.getpid() and _has_open(Path(f"/proc/{pid}/fd"), wanted)]


def _has_open(descriptors: Path, wanted: os.stat_result) -> bool:
    try:
        for descriptor in descriptors.iterdir():
            with suppress(OSError):
                if os.path.samestat(descriptor.stat(), wanted):
                    return True
    except OSError:
        return False
    return False


def _ends(home: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while left(home):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _named(home: Path) -> str:
    pids = ", ".join(str(pid) for pid in holders(home / _LOCK)) or "not visible to this account"
    return f"Processes of an earlier run still hold {home} (pid: {pids}); end them and try again."


def _open(home: Path) -> int:
    return os.open(home / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
