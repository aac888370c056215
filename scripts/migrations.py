"""Keeps shipped migrations as they are: `make freeze` adds new ones to migrations/frozen.sha256, --check compares.

The list is in the form of sha256sum, so `sha256sum -c frozen.sha256` reads it too.
"""

import sys
from hashlib import sha256
from pathlib import Path

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"


def main(arguments: list[str], folder: Path = MIGRATIONS) -> int:
    """Add what is new, or nothing with --check; return 1 where there is something to complain of."""
    frozen = read_list(folder)
    faults = changed(folder, frozen) + misplaced(folder, frozen)
    fresh = new(folder, frozen)
    if arguments == ["--check"]:
        faults += [
            f"{name} is not in frozen.sha256; once it is as it should be for ever, run 'make freeze'." for name in fresh
        ]
    elif not faults:
        write_list(folder, frozen | {name: digest(folder / name) for name in fresh})
        sys.stdout.writelines(f"frozen: {name}\n" for name in fresh)
    sys.stderr.writelines(f"migrations/{fault}\n" for fault in faults)
    return 1 if faults else 0


def changed(folder: Path, frozen: dict[str, str]) -> list[str]:
    """Return complaints of frozen migrations that are gone or not as they were."""
    here = {path.name: digest(path) for path in folder.glob("*.sql")}
    return [
        f"{name} is frozen, since databases have run it, and was changed: put it back and write a new migration."
        for name, expected in frozen.items()
        if here.get(name) != expected
    ]


def misplaced(folder: Path, frozen: dict[str, str]) -> list[str]:
    """Return complaints of new migrations that come before a frozen one: a migrated database would not run them."""
    last = max(map(version, frozen), default="")
    return [
        f"{name} must have a higher number than {last}, which is frozen."
        for name in new(folder, frozen)
        if version(name) <= last
    ]


def new(folder: Path, frozen: dict[str, str]) -> list[str]:
    """Return the names of migrations that are not frozen, in their order."""
    return sorted(path.name for path in folder.glob("*.sql") if path.name not in frozen)


def version(name: str) -> str:
    """Return the digits before the first underscore, by which migrations are ordered."""
    return name.split("_", 1)[0]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    return sha256(path.read_bytes()).hexdigest()


def read_list(folder: Path) -> dict[str, str]:
    """Return the digests by file name; none where there is no list."""
    path = folder / "frozen.sha256"
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: expected for expected, name in (line.split("  ", 1) for line in lines)}


def write_list(folder: Path, frozen: dict[str, str]) -> None:
    """Write the list in the order of the names."""
    (folder / "frozen.sha256").write_text("".join(f"{frozen[name]}  {name}\n" for name in sorted(frozen)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
