"""How commands speak: to a person on a terminal, to a machine with --json, about errors in one line."""

import json
import sys
from enum import IntEnum
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.text import Text

from services.cli.printable import escaped_json, one_line, printable

WIDTH = 80


class Exit(IntEnum):
    """What the commands exit with."""

    OK = 0
    FAILED = 1
    WRONG_CALL = 2
    NOT_RUNNING = 3
    INTERRUPTED = 130


def stack_epilog(done: str, not_running: str | None = None) -> str:
    """Return the exit codes of a command that works on the stack itself, as they stand under its help."""
    codes = {0: f"done; {done}", 1: "failed; the message says what to do", 2: "called wrongly, or a setting is wrong"}
    if not_running:
        codes[3] = not_running
    codes[130] = "stopped by Ctrl-C"
    return "\b\nExit codes:\n" + "".join(f"  {code:<5}{meaning}\n" for code, meaning in codes.items())


def console(*, stderr: bool = False) -> Console:
    """Return a console that colours only a terminal and is never wider than 80 columns when it is not one.

    It takes no markup from what it prints, and rich itself honours NO_COLOR.
    """
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return Console(highlight=False, emoji=False, markup=False, stderr=stderr)
    return Console(
        highlight=False, emoji=False, markup=False, stderr=stderr, no_color=True, width=WIDTH, force_terminal=False
    )


def wrapped(label: str, text: str, width: int = WIDTH) -> str:
    """Return the text in lines of at most `width` cells, the label before the first and its space before the others.

    What could steer the terminal is replaced; paragraphs stay apart.
    """
    room = max(20, width - len(label))
    lines: list[str] = []
    for paragraph in printable(text).split("\n"):
        folded = Text(paragraph).wrap(_MEASURE, room) if paragraph.strip() else [Text("")]
        lines += [line.plain.rstrip() for line in folded]
    indents = [label] + [" " * len(label)] * (len(lines) - 1)
    return "\n".join((indent + line).rstrip() for indent, line in zip(indents, lines, strict=True))


def print_json(value: Any) -> None:
    """Write one JSON document for a machine, in ASCII where the output is not of UTF-8."""
    is_utf8 = (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(escaped_json(json.dumps(value, indent=2, ensure_ascii=not is_utf8, default=str)))


def fail(message: str, code: int = Exit.FAILED) -> NoReturn:
    """Say on stderr what is wrong and what to do, and exit."""
    click.echo(f"attest: {one_line(message)}", err=True)
    sys.exit(code)


_MEASURE = Console(width=WIDTH, force_terminal=False, no_color=True)
