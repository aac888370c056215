"""Which files the paths of a call mean, and the address of each."""

import glob
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from services.cli.address import address

ENDINGS = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".pdf": "application/pdf",
}
"""Endings that are ingested, in any case, and the media type of each."""
HIDDEN = "hidden"
"""Why a file was left out whose name begins with a dot."""
_WILD = frozenset("*?[")


class PathError(Exception):
    """A path of the call cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to ingest."""

    path: Path
    source_url: str
    size: int

    @property
    def media_type(self) -> str:
        """Return the media type that the ending stands for."""
        return ENDINGS[self.path.suffix.lower()]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that the call names."""

    path: Path
    prefix: str
    """What the addresses of all below it begin with: empty, or with a slash at its end."""


@dataclass(slots=True)
class Collection:
    """What was found: files to ingest in the order met, and what was left out and why."""

    files: list[Found] = field(default_factory=list)
    skipped: list[tuple[Path, str]] = field(default_factory=list)
    unreadable: list[tuple[Path, str]] = field(default_factory=list)
    named: set[Path] = field(default_factory=set)
    """Files that the call names itself, rather than a folder or a pattern that they are in."""

    folders: list[Folder] = field(default_factory=list)

    @property
    def missed(self) -> list[tuple[Path, str]]:
        """Return what was left out although the call names it."""
        return [(path, why) for path, why in self.skipped if path in self.named]


def collect(paths: Iterable[str], base: Path | None = None) -> Collection:
    """Find the files of the paths: files, folders with all below them, and patterns that the shell left alone.

    An address begins with the name of the folder that was given (of a file: that it lies in; of a pattern: before its
    first wildcard), or is relative to `base`. A file that several paths mean is taken once. Raises PathError for a
    path that is not there, a file outside `base`, and two files that would get the same address.
    """
    collection = Collection()
    seen: set[str] = set()
    for path in paths:
        for start, root in _starts(path):
            top = base.resolve() if base else root.parent
            if os.path.lexists(path):
                _name(start, top, collection)
            for file in _walk(start, collection):
                _take(file, top, collection, seen)
    _refuse_same_address(collection.files)
    return collection


def _name(start: Path, top: Path, collection: Collection) -> None:
    if not start.is_dir():
        collection.named.add(start)
        return
    below = address(_below(start, top))
    collection.folders.append(Folder(start, f"{below}/" if below else ""))


def _below(path: Path, top: Path) -> Path:
    if not path.is_relative_to(top):
        raise PathError(f"{path} is not below {top}; choose another --base.")
    return path.relative_to(top)


def _starts(given: str) -> Iterator[tuple[Path, Path]]:
    """Return each file or folder that a path means, with the folder whose name its addresses begin with."""
    path = Path(given)
    if os.path.lexists(path):
        whole = _resolved(path)
        yield whole, whole if whole.is_dir() else whole.parent
        return
    if not _WILD.intersection(given):
        raise PathError(f"{given} is not there; check the path.")
    matches = sorted(glob.glob(given, recursive=True))  # noqa: PTH207  # a pattern may be absolute, Path.glob's not
    if not matches:
        raise PathError(f"{given} matches nothing; check the pattern.")
    root = _resolved(_fixed_part(path))
    for match in matches:
        # Only the folder is resolved: a link keeps its own name and ending.
        found = Path(match)
        yield found.parent.resolve() / found.name, root


def _resolved(path: Path) -> Path:
    """Resolve the way to a file and not the file, so that a link keeps its own name; resolve folders whole."""
    try:
        return path.resolve(strict=True) if path.is_dir() else path.parent.resolve(strict=True) / path.name
    except (OSError, RuntimeError) as error:
        raise PathError(f"{path} cannot be read: {_why(error)}.") from error


def _fixed_part(pattern: Path) -> Path:
    fixed: list[str] = []
    for part in pattern.parts[:-1]:
        if _WILD.intersection(part):
            break
        fixed.append(part)
    return Path(*fixed)


def _walk(start: Path, collection: Collection) -> Iterator[Path]:
    """Yield the files at or below `start`; what links lead to comes last, so that a real path wins over a link."""
    if not start.is_dir():
        yield start
        return
    inside = os.path.realpath(start)
    folders = deque([start])
    links: deque[Path] = deque()
    entered: set[str] = set()
    while folders or links:
        folder = folders.popleft() if folders else links.popleft()
        real = os.path.realpath(folder)
        if real in entered:
            collection.skipped.append((folder, "the folder was walked through already"))
            continue
        entered.add(real)
        for entry in _entries(folder, collection):
            path = Path(entry.path)
            if entry.name.startswith("."):
                collection.skipped.append((path, HIDDEN))
            elif entry.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
                collection.skipped.append((path, "a link that leads out of the folder"))
            elif _is_folder(entry):
                (links if entry.is_symlink() else folders).append(path)
            else:
                yield path


def _entries(folder: Path, collection: Collection) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError as error:
        collection.unreadable.append((folder, _why(error)))
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _take(file: Path, top: Path, collection: Collection, seen: set[str]) -> None:
    real = os.path.realpath(file)
    if real in seen:
        return
    seen.add(real)
    if file.suffix.lower() not in ENDINGS:
        collection.skipped.append((file, f"not one of {', '.join(ENDINGS)}"))
        return
    try:
        status = file.stat()
    except OSError as error:
        collection.unreadable.append((file, _why(error)))
        return
    if not S_ISREG(status.st_mode):
        collection.skipped.append((file, "a folder" if S_ISDIR(status.st_mode) else "not a regular file"))
        return
    collection.files.append(Found(file, address(_below(file, top)), status.st_size))


def _refuse_same_address(files: Iterable[Found]) -> None:
    places: dict[str, Path] = {}
    for file in files:
        other = places.setdefault(file.source_url, file.path)
        if other != file.path:
            raise PathError(
                f"{other} and {file.path} would both be stored as {file.source_url}; name a --base above both."
            )


def _why(error: OSError | RuntimeError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "it cannot be read"
