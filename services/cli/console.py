"""How commands speak: to a person on a terminal, to a machine with --json, about errors in one line."""

import json
import sys
from typing import Any, NoReturn

import click
from rich.console import Console

WIDTH = 80


def console() -> Console:
    """Return a console that colours only a terminal and is never wider than 80 columns when it is not one."""
    if sys.stdout.isatty():
        return Console(highlight=False, emoji=False)
    return Console(highlight=False, emoji=False, no_color=True, width=WIDTH, force_terminal=False)


def print_json(value: Any) -> None:
    """Write one JSON document for a machine."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def fail(message: str, code: int = 1) -> NoReturn:
    """Say on stderr what is wrong and what to do, and exit."""
    click.echo(f"attest: {message}", err=True)
    sys.exit(code)
