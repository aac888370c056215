"""The secrets of a local stack: made once, kept in one file that only its owner can read."""

import json
import os
import secrets
import tempfile
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

FILE_NAME = "secrets.json"


@dataclass(frozen=True, slots=True)
class Secrets:
    """Passwords of the database roles, and the keys that must outlive every restart."""

    superuser_password: str = field(repr=False)
    owner_password: str = field(repr=False)
    writer_password: str = field(repr=False)
    reader_password: str = field(repr=False)
    auth_password: str = field(repr=False)
    question_salt: str = field(repr=False)
    """Key of the question hash, 32 bytes in hex."""
    content_key: str = field(repr=False)
    """Key of the passage ids, 32 bytes in hex; never rotated, or every passage gets a new id."""


BOUND_TO_DATA = ("superuser_password", "question_salt", "content_key")
"""Secrets that cannot be made anew once there is data."""


class SecretsError(Exception):
    """The file of secrets cannot be used as it is."""


def load(home: Path) -> Secrets | None:
    """Return the secrets of the stack in `home` as they are; None where some are missing. Raises SecretsError."""
    stored = _read(home / FILE_NAME)
    names = [secret.name for secret in fields(Secrets)]
    return Secrets(**{name: stored[name] for name in names}) if stored.keys() >= set(names) else None


def load_or_create(home: Path, *, has_data: bool = False) -> Secrets:
    """Return the secrets of the stack in `home`, making those that are missing.

    The file is written whole or not at all, mode 0600; an existing value is never changed. Raises SecretsError when
    the file is there and is not what this function wrote, or when `has_data` and what the data needs is missing.
    """
    path = home / FILE_NAME
    stored = _read(path)
    missing = [name for name in BOUND_TO_DATA if not stored.get(name)]
    if has_data and missing:
        raise SecretsError(f"{path} lacks {', '.join(missing)}, which the stored data needs; restore it from a backup")
    values = {secret.name: stored.get(secret.name) or _fresh(secret.name) for secret in fields(Secrets)}
    result = Secrets(**values)
    if not asdict(result).keys() <= stored.keys():
        _write(path, {**stored, **asdict(result)}, replace=bool(stored))
        return Secrets(**{name: value for name, value in _read(path).items() if name in values})
    return result


def adopt_keys(home: Path, question_salt: str, content_key: str) -> Secrets:
    """Take the keys of a backup in place of the home's own, whose data must be gone; passwords stay or are made."""
    current = asdict(load_or_create(home))
    _write(home / FILE_NAME, {**current, "question_salt": question_salt, "content_key": content_key}, replace=True)
    return load_or_create(home)


def _fresh(name: str) -> str:
    return secrets.token_urlsafe(32) if name.endswith("_password") else secrets.token_hex(32)


def _read(path: Path) -> dict[str, str]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        stored = None
    if not isinstance(stored, dict) or not all(isinstance(value, str) for value in stored.values()):
        raise SecretsError(f"{path} is damaged; restore it from a backup, since the stored data needs its keys")
    path.chmod(0o600)
    return stored


def _write(path: Path, values: dict[str, str], *, replace: bool) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(values, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            _link_unless_there(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _link_unless_there(temporary: Path, path: Path) -> None:
    """Let the first of two writers win, so that nobody goes on with secrets that are not in the file."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return
