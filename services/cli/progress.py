"""The progress bars of an ingest: bytes compared, bytes of the files that are done, documents deleted; time left."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from services.cli.batch import Done
from services.cli.collect import Found
from services.cli.console import console
from services.cli.eta import Work


@contextmanager
def simple_bar(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal how much of something is done; yield what hears how much, and of how much."""
    out = console(stderr=True)
    columns = (TextColumn(doing), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)


class Bar:
    """Shows a batch on a terminal and says nothing elsewhere.

    It counts bytes whose text is stored, not bytes that were sent: sending is over long before embedding is. Of an
    upload it counts the part of its chunks that the service reports as embedded.
    """

    def __init__(self, files: Sequence[Found], is_new: Callable[[Found], bool]) -> None:
        """Prepare a bar on stderr, so that stdout holds the result alone; `is_new` tells of each file."""
        out = console(stderr=True)
        self._work = Work(files, is_new, time.monotonic)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[files]} files"),
            _TimeLeft(self._work),
        )
        self._progress = Progress(*columns, console=out, transient=True, disable=not out.is_terminal)
        self._count = len(files)
        self._finished = 0
        self._finished_bytes = 0.0
        self._parts: dict[str, float] = {}
        total = sum(_weight(file) for file in files)
        self._task = self._progress.add_task("Ingesting", total=total, files=f"0/{self._count}")

    def __enter__(self) -> Self:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self._progress.stop()

    def started(self, file: Found) -> None:
        """Note that a file is on its way."""
        self._work.started(file)

    def progressed(self, file: Found, embedded: int, total: int) -> None:
        """Note how many chunks of a file are embedded by now, and of how many."""
        self._work.progressed(file, embedded, total)
        self._parts[file.source_url] = _weight(file) * min(max(embedded / total, 0.0), 1.0)
        self._show("Ingesting")

    def waits(self, seconds: float) -> None:
        """Say that the service asked for a pause."""
        self._show(f"Waiting {seconds:.0f} s")

    def finished(self, done: Done, file: Found) -> None:
        """Note that a file was dealt with, well or not."""
        self._work.finished(file, done)
        self._parts.pop(file.source_url, None)
        self._finished += 1
        self._finished_bytes += _weight(file)
        self._show("Ingesting")

    def _show(self, doing: str) -> None:
        completed = self._finished_bytes + sum(self._parts.values())
        files = f"{self._finished}/{self._count}"
        self._progress.update(self._task, description=doing, completed=completed, files=files)


class _TimeLeft(ProgressColumn):
    """The time that the work still takes, which goes down between two files as well."""

    max_refresh = 0.5

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def render(self, task: Task) -> Text:
        seconds = self._work.seconds_left()
        shown = "-:--:--" if seconds is None else str(timedelta(seconds=round(seconds)))
        return Text(shown, style="progress.remaining")


def _weight(file: Found) -> int:
    """Return the bytes of a file; an empty one weighs something too, so that the bar ends at its end."""
    return max(1, file.size)
