"""Writes the generated pages of docs/: `make docs`; with --check it only says which are stale.

docs/schema.md needs a database: `scripts/docs.py schema` starts one in a temporary folder.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.pages import configuration, dependencies, errors, schema  # noqa: E402  # the path comes first

PAGES: dict[str, Callable[[], str]] = {
    "errors": lambda: errors.page(errors.read_reasons(ROOT)),
    "configuration": configuration.page,
    "dependencies": lambda: dependencies.page(ROOT / "requirements"),
}


def main(arguments: list[str]) -> int:
    """Write the pages, or the schema's; return 1 when --check finds a stale one."""
    if arguments == ["schema"]:
        _path("schema").write_text(asyncio.run(schema.page_of_new_database()), encoding="utf-8")
        return 0
    made = {name: make() for name, make in PAGES.items()}
    if arguments != ["--check"]:
        for name, text in made.items():
            _path(name).write_text(text, encoding="utf-8")
        return 0
    stale = [name for name, text in made.items() if not _path(name).exists() or _path(name).read_text() != text]
    for name in stale:
        sys.stderr.write(f"docs/{name}.md is stale: run 'make docs' and commit.\n")
    return 1 if stale else 0


def _path(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
