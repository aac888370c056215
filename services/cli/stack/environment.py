"""The settings that a stack was started with, so that a later `attest up` can say which of them differ now."""

from collections.abc import Mapping
from hashlib import sha256

_PREFIX = "ATTEST_"
_OF_COMMANDS = frozenset({"ATTEST_HOME", "ATTEST_OWNER_DSN"})
"""They choose what a command works on and change nothing in a stack."""


def fingerprints(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a short hash of each setting by the name of its variable; values may be secret."""
    return {
        name: sha256(f"{name}={value}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        for name, value in environment.items()
        if name.startswith(_PREFIX) and name not in _OF_COMMANDS and value
    }


def differing(before: Mapping[str, str], environment: Mapping[str, str]) -> list[str]:
    """Return the variables that are set otherwise now than when `before` was taken, by name."""
    now = fingerprints(environment)
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
