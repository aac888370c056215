"""Calls the gateway again where it asks for that, within bounds."""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import click

from services.cli.api import ApiError
from services.cli.batch import pause_before_next

_SAID_SECONDS = 2.0
"""Shorter pauses are not worth a line."""

Result = TypeVar("Result")


def patiently(call: Callable[[], Result], *, waits_for_gateway: bool = True) -> Result:
    """Return what the call does, tried again as a file of an ingest is; raise its last ApiError."""
    began = time.monotonic()
    tries = 0
    while True:
        tries += 1
        try:
            return call()
        except ApiError as error:
            if error.unreachable and not waits_for_gateway:
                raise
            pause = pause_before_next(error, tries, time.monotonic() - began)
            if pause is None:
                raise
            _say(pause)
            time.sleep(pause)


def _say(pause: float) -> None:
    if pause >= _SAID_SECONDS and sys.stderr.isatty():
        click.echo(f"Waiting {pause:.0f} s, as the service asked …", err=True)
