"""Room on the disk: Postgres stops taking writes while there is still enough left for it to go on serving reads.

A disk that fills up entirely takes Postgres down, since it cannot write its log; so the supervisor looks before that.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 1024 * 1024
NEEDED_TO_START = 32 * MEBIBYTE
"""Free bytes without which Postgres does not come up: two segments of its log."""
_EASE = 1.25
"""Writes begin again when this many times the reserve is free, so that they do not come and go."""


@dataclass(slots=True)
class SpaceWatch:
    """Knows whether the disk of `folder` is too full to write on."""

    folder: Path
    reserve_bytes: int
    low: bool = False

    def look(self) -> bool:
        """Look at the disk; return whether `low` has changed. Blocks for as long as the file system takes."""
        before = self.low
        free = free_bytes(self.folder)
        self.low = free < self.reserve_bytes * (_EASE if self.low else 1)
        return self.low != before

    def warning(self) -> str | None:
        """Say what is wrong and what to do; None when nothing is."""
        if not self.low:
            return None
        return (
            f"The disk of {self.folder} has less than {self.reserve_bytes // MEBIBYTE} MB free "
            "(ATTEST_DISK_RESERVE_MB): documents are served and none is taken; free some space."
        )

    def too_full_to_start(self) -> str | None:
        """Say that Postgres cannot come up for want of space; None when it can."""
        free = free_bytes(self.folder)
        if free >= NEEDED_TO_START:
            return None
        return (
            f"the disk of {self.folder} has {free // MEBIBYTE} MB free and Postgres needs "
            f"{NEEDED_TO_START // MEBIBYTE} MB to start; free some space"
        )


def free_bytes(folder: Path) -> int:
    """Return the bytes that are free on the disk of `folder`, or of the nearest folder above it that is there."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free
