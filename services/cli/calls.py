"""What the commands that call the gateway share: the connection, the exit codes of its errors, options of a search."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from services.cli.api import Api, ApiError
from services.cli.console import Exit, fail
from services.cli.stack.settings import DoorSettings
from services.common.settings import from_environment

EPILOG = """\b
Exit codes:
  0    done; {done}
  1    failed; the message says what to do
  2    called wrongly
  3    the stack is not up
"""
_MOST_READ = 64 * 1024
"""Bytes of a question on stdin."""

Command = Callable[..., None]


@contextmanager
def gateway() -> Iterator[Api]:
    """Open the gateway of this machine's stack; an error of it ends the command with its message and exit code."""
    try:
        with Api.at(from_environment(DoorSettings).gateway_url) as api:
            yield api
    except ApiError as error:
        fail(described(error), exit_code(error))


def described(error: ApiError) -> str:
    """Return the message of an error with what a person can look up or wait for."""
    wait = f" Try again in {error.retry_after:.0f} s." if error.retry_after else ""
    return f"{error}{wait} ({error.reason})"


def exit_code(error: ApiError) -> Exit:
    """Return what a command exits with after an error of the gateway."""
    if error.unreachable:
        return Exit.NOT_RUNNING
    return Exit.WRONG_CALL if error.code == "INVALID_ARGUMENT" else Exit.FAILED


def search_options(command: Command) -> Command:
    """Add the options that `ask` and `search` share."""
    options: tuple[Callable[[Command], Command], ...] = (
        click.option("--json", "as_json", is_flag=True, help="Print the service's whole answer as JSON."),
        click.option(
            "--min-similarity",
            type=click.FloatRange(-1, 1),
            help="Least cosine similarity of a passage.  [default: the model's]",
        ),
        click.option("--top-k", type=click.IntRange(1), help="Most passages.  [default: 5]"),
        click.option("--lane", "lanes", multiple=True, metavar="NAME", help="Lane to search; may be repeated."),
    )
    for option in options:
        command = option(command)
    return command


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given, so that the service's own defaults hold for the others."""
    return {
        name: list(value) if name == "lanes" else value for name, value in options.items() if value not in (None, ())
    }


def question_of(argument: str) -> str:
    """Return the question: the argument, or what stands on stdin when it is `-`."""
    if argument != "-":
        return argument
    if sys.stdin.isatty():
        click.echo("Type the question and end it with Enter and Ctrl-D.", err=True)
    read = sys.stdin.buffer.read(_MOST_READ + 1)
    if len(read) > _MOST_READ:
        fail("the question on stdin is far too long; it may have 4000 characters.", Exit.WRONG_CALL)
    return read.decode("utf-8", "surrogateescape").strip()
