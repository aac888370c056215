"""Progress on a terminal; elsewhere one line a part, so that a log tells how far a run came."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Bar:
    """Shows the part that runs on stderr, so that stdout holds the result alone."""

    def __init__(self) -> None:
        """Prepare the bar."""
        self._console = Console(stderr=True, highlight=False, markup=False)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task = self._bar.add_task("starting the stack", total=None)
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self._bar.stop()

    def begins(self, what: str, steps: int) -> None:
        """Show that a part of so many steps begins."""
        self._bar.reset(self._task, description=what, total=steps)
        if not self._console.is_terminal:
            self._console.print(f"{time.monotonic() - self._began:7.1f} s  {what} ({steps})")

    def step(self) -> None:
        """Show that one step is done."""
        self._bar.advance(self._task)
