"""Settings from the environment: a frozen dataclass per service, read once, precise when something is wrong."""

import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from functools import partial
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

PREFIX = "ATTEST_"

Settings = TypeVar("Settings")


class SettingsError(ValueError):
    """The environment does not hold what a service needs; the message names the variables and never their values."""


class Secret(str):
    """A string that prints as stars wherever it ends up."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'********'"

    def reveal(self) -> str:
        """Return the plain value."""
        return str.__str__(self)

    def __str__(self) -> str:
        return "********"

    def __format__(self, format_spec: str) -> str:
        return "********"


def from_environment(settings: type[Settings], environment: Mapping[str, str] = os.environ) -> Settings:
    """Read `settings`, a frozen dataclass, from `ATTEST_` variables named after its fields in upper case.

    An empty variable counts as absent. A field may carry `metadata={"least": …, "most": …}`,
    `metadata={"choices": (…,)}`, or `metadata={"read": …}`: a function that makes a value, or an item of a list, of
    its text and raises ValueError with what is wrong, without the name.
    Raises SettingsError that lists everything that is wrong at once.
    """
    hints = get_type_hints(settings)
    values: dict[str, Any] = {}
    problems: list[str] = []
    for field in fields(settings):  # type: ignore[arg-type]  # dataclass by contract
        name = PREFIX + field.name.upper()
        try:
            if environment.get(name):
                values[field.name] = _parse(environment[name], hints[field.name], field)
            elif field.default is MISSING and field.default_factory is MISSING:
                problems.append(f"{name} is missing and has no default")
        except ValueError as error:
            problems.append(f"{name} {error}")
    if problems:
        raise SettingsError("; ".join(problems))
    return settings(**values)


def _parse(raw: str, hint: Any, field: Field[Any]) -> Any:
    kind = _plain(hint)
    if get_origin(kind) is frozenset or get_origin(kind) is tuple:
        item = get_args(kind)[0]
        read = field.metadata.get("read") or partial(_parse_one, kind=item)
        parts = [read(part.strip()) for part in raw.split(",") if part.strip()]
        return frozenset(parts) if get_origin(kind) is frozenset else tuple(parts)
    read = field.metadata.get("read") or partial(_parse_one, kind=kind)
    value = read(raw)
    _check_bounds(value, field.metadata)
    return value


def _plain(hint: Any) -> Any:
    """Strip `None` from an optional type."""
    if get_origin(hint) in (Union, UnionType):
        return next(kind for kind in get_args(hint) if kind is not type(None))
    return hint


def _parse_one(raw: str, kind: Any) -> Any:
    if kind is bool:
        return _boolean(raw)
    if kind is bytes:
        return _secret_bytes(raw)
    readers: dict[Any, Callable[[str], Any]] = {int: _integer, float: _number, str: str, Secret: Secret}
    reader = readers.get(kind)
    if reader is not None:
        return reader(raw)
    try:
        return kind(raw)
    except ValueError:
        allowed = ", ".join(str(member) for member in kind)
        raise ValueError(f"is not one of {allowed}") from None


def _boolean(raw: str) -> bool:
    known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if raw.lower() not in known:
        raise ValueError("is not true or false")
    return known[raw.lower()]


def _integer(raw: str) -> int:
    try:
        return int(raw)
    except ValueError:
        raise ValueError("is not a whole number") from None


def _number(raw: str) -> float:
    try:
        return float(raw)
    except ValueError:
        raise ValueError("is not a number") from None


def _secret_bytes(raw: str) -> bytes:
    """Read a key: hex of at least 32 bytes."""
    try:
        key = bytes.fromhex(raw)
    except ValueError:
        raise ValueError("is not hex; make one with: openssl rand -hex 32") from None
    if len(key) < 32:
        raise ValueError("has less than 32 bytes; make one with: openssl rand -hex 32")
    return key


def _check_bounds(value: Any, metadata: Mapping[str, Any]) -> None:
    if "choices" in metadata and value not in metadata["choices"]:
        raise ValueError("is not one of " + ", ".join(metadata["choices"]))
    least, most = metadata.get("least"), metadata.get("most")
    if (least is not None and not value >= least) or (most is not None and not value <= most):
        raise ValueError(f"is outside {least} to {most}")


def masked(settings: object) -> dict[str, str]:
    """Return the settings for a log line: secrets, keys and addresses with passwords as stars."""
    shown = {}
    for field in fields(settings):  # type: ignore[arg-type]  # dataclass by contract
        value = getattr(settings, field.name)
        shown[field.name] = "********" if isinstance(value, (Secret, bytes)) else str(value)
    return shown
