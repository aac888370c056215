"""Keeps the logs within their bounds, by copying the full file aside and cutting it.

A part writes to a file of its own, opened for appending: it goes on at the new end after the cut, needs no signal, and
is never held up, as it would be by a pipe that nobody reads. What is written between copy and cut is lost.
"""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LogLimits:
    """Bounds of one log."""

    most_bytes: int
    """Size at which a file is set aside."""
    generations: int
    """Files that are kept of it, the one being written included."""


def rotate_all(folder: Path, limits: LogLimits) -> None:
    """Set every log of the folder aside that is over its size; what cannot be kept on a full disk is dropped."""
    for log in folder.glob("*.log"):
        # A log that went away meanwhile, or that cannot be read, is no reason to stop anything.
        with suppress(OSError):
            if log.stat().st_size >= limits.most_bytes:
                _rotate(log, limits)


def _rotate(log: Path, limits: LogLimits) -> None:
    kept = [log.with_name(f"{log.name}.{number}") for number in range(1, limits.generations)]
    for newer, older in reversed(list(pairwise(kept))):
        with suppress(FileNotFoundError):
            newer.replace(older)
    if kept:
        _copy(log, kept[0])
    os.truncate(log, 0)


def _copy(log: Path, kept: Path) -> None:
    """Copy what fits: a full disk must not keep the log from being cut."""
    try:
        shutil.copyfile(log, kept)
        shutil.copymode(log, kept)
    except OSError:
        kept.unlink(missing_ok=True)
