"""The file of a backup: a zip with a manifest, the keys that the data is bound to, and a dump by `pg_dump`."""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

FORMAT = 1
"""Version of the file's layout; raised when an older Attest could not read it any more."""
_MANIFEST = "manifest.json"
_KEYS = "keys.json"
_DUMP = "database.dump"


class ArchiveError(Exception):
    """The file is not a backup that can be used, or cannot be written; the message says why."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds."""

    format: int
    attest: str
    schema: str
    """Version of the database's schema."""
    postgres: str
    created_at: float
    """Seconds since 1970."""
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Keys:
    """Secrets that the data is bound to."""

    question_salt: str = field(repr=False)
    """Without it the hashes of questions in older logs could not be compared with new ones."""
    content_key: str = field(repr=False)
    """Without it every passage would get a new id at its next ingest."""


@contextmanager
def new_archive(file: Path, manifest: Manifest, keys: Keys, *, replace: bool) -> Iterator[IO[bytes]]:
    """Yield where to write the dump; when the block ends well, the file is there whole, readable by its owner alone.

    Raises ArchiveError when it cannot be written, has no name, or is there and `replace` is not asked for.
    """
    if not file.name:
        raise ArchiveError("FILE is empty; name the file to write.")
    if file.exists() and not replace:
        raise ArchiveError(f"{file} is there already; name another file, or say --force to replace it.")
    unfinished = file.with_name(f".{file.name}.{os.getpid()}.unfinished")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=2))
                archive.writestr(_KEYS, json.dumps(asdict(keys), indent=2))
                with archive.open(_DUMP, "w", force_zip64=True) as dump:
                    yield dump
            raw.flush()
            os.fsync(raw.fileno())
        _put_in_place(unfinished, file, replace=replace)
    except OSError as error:
        raise ArchiveError(f"Cannot write {file}: {error.strerror}.") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _put_in_place(unfinished: Path, file: Path, *, replace: bool) -> None:
    if replace:
        unfinished.replace(file)
        return
    try:
        file.hardlink_to(unfinished)
    except FileExistsError:
        raise ArchiveError(f"{file} has come to be there meanwhile; name another file.") from None


@contextmanager
def open_archive(file: Path) -> Iterator[tuple[Manifest, Keys, IO[bytes]]]:
    """Yield what a backup holds and its dump to read, after the whole of it was read once and is undamaged.

    Raises ArchiveError.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            damaged = archive.testzip()
            if damaged is not None:
                raise ArchiveError(f"{file} is damaged ({damaged}); take another backup.")
            manifest, keys = _manifest(archive), Keys(**json.loads(archive.read(_KEYS)))
            with archive.open(_DUMP) as dump:
                yield manifest, keys, dump
    except OSError as error:
        raise ArchiveError(f"Cannot read {file}: {error.strerror}.") from error
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{file} is no backup of Attest, or it is cut short.") from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    raw: dict[str, Any] = json.loads(archive.read(_MANIFEST))
    if int(raw["format"]) > FORMAT:
        raise ArchiveError(f"The backup was made by Attest {raw['attest']}, which is newer; restore it with that one.")
    return Manifest(**raw)
