"""The home of a stack: who may start it, and which version of Attest it was last used by."""

import fcntl
import importlib.metadata
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from services.cli.hints import command
from services.common.postgres.schema import expected_version

FORMAT = 1
"""Version of the layout of the home; raised when an older Attest could not use it any more."""
_STAMP = "version.json"
_LAUNCH_LOCK = "launch.lock"
_UNFINISHED_RESTORE = "restore.unfinished"
_POLL_SECONDS = 0.1


class HomeError(Exception):
    """The home cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What last brought the home up to date."""

    format: int
    attest: str
    schema: str


def make_home(home: Path) -> None:
    """Make the folder of the home and that of its logs; raises HomeError."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o755 if os.geteuid() == 0 else 0o700)
        (home / "logs").mkdir(exist_ok=True)
    except OSError as error:
        raise HomeError(
            f"Cannot make the folder {home} ({error.strerror}); set ATTEST_HOME to one that you may write to."
        ) from error


@contextmanager
def launch_lock(home: Path, timeout_s: float) -> Iterator[None]:
    """Be the only command that starts, fills or empties this home; waits its turn, then raises HomeError."""
    descriptor = os.open(home / _LAUNCH_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise HomeError(f"Another attest command is starting or restoring {home}; try again.") from None
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def check_usable(home: Path) -> None:
    """Raise HomeError for a home that a newer Attest has used, or that a restore left half full."""
    if (home / _UNFINISHED_RESTORE).exists():
        raise HomeError(f"A restore into {home} did not finish; run `{command('restore')}` again.")
    stamp = read_stamp(home)
    if stamp is not None and (stamp.format > FORMAT or stamp.schema > expected_version()):
        raise HomeError(
            f"{home} was last used by Attest {stamp.attest}, which is newer than this one ({attest_version()}): "
            "use that version, or another ATTEST_HOME."
        )


def read_stamp(home: Path) -> Stamp | None:
    """Return the stamp; None for a home that is new, older than stamps, or whose stamp cannot be read."""
    try:
        raw = json.loads((home / _STAMP).read_text(encoding="utf-8"))
        return Stamp(int(raw["format"]), str(raw["attest"]), str(raw["schema"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def raise_stamp(home: Path) -> None:
    """Write down that this version of Attest has brought the home up to date."""
    stamp = Stamp(FORMAT, attest_version(), expected_version())
    if stamp != read_stamp(home):
        fresh = home / f"{_STAMP}.new"
        fresh.write_text(json.dumps(asdict(stamp), indent=2), encoding="utf-8")
        fresh.replace(home / _STAMP)


@contextmanager
def being_restored(home: Path) -> Iterator[None]:
    """Mark the home as unusable, until the block ends well."""
    (home / _UNFINISHED_RESTORE).touch()
    yield
    forget_unfinished_restore(home)


def forget_unfinished_restore(home: Path) -> None:
    """Take the mark away."""
    (home / _UNFINISHED_RESTORE).unlink(missing_ok=True)


def half_restored(home: Path) -> bool:
    """Say whether a restore was begun and did not end."""
    return (home / _UNFINISHED_RESTORE).exists()


def attest_version() -> str:
    """Return the version of the installed Attest."""
    return importlib.metadata.version("attest")
