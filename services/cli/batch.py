"""Ingests many files, several at a time; waits where the service asks for it, and stops where nobody listens."""

import asyncio
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from services.cli.api import ApiError, Progress
from services.cli.collect import Found
from services.cli.content import unreadable

WAIT_SECONDS = 180.0
"""How long a file waits in all for a budget or a service that is busy."""
REACH_SECONDS = 20.0
"""How long a file waits for a gateway that does not listen, for one that is being restarted."""
_MOST_SENDS = 6
"""Times that a file is sent when the connection broke or the time was up: an upload goes on where it was."""
_LONGEST_PAUSE = 15.0


class Outcome(StrEnum):
    """What became of a file."""

    CREATED = "CREATED"
    REPLACED = "REPLACED"
    UNCHANGED = "UNCHANGED"
    FAILED = "FAILED"
    PRUNED = "PRUNED"
    """Its file is gone, and so is the document."""


@dataclass(frozen=True, slots=True)
class Done:
    """A file that was dealt with: the service's result, or the error; and how long it took, waits included."""

    path: Path
    source_url: str
    outcome: Outcome
    result: dict[str, Any] = field(default_factory=dict)
    error: ApiError | None = None
    seconds: float = 0.0
    sends: int = 1
    """Above 1 the service told of the last send alone what it embedded."""


class Sends(Protocol):
    """Sends one file."""

    async def send(self, file: Found, progress: Progress) -> dict[str, Any]:
        """Ingest the file; raise ApiError."""


class Observer(Protocol):
    """Watches the files go by."""

    def started(self, file: Found) -> None:
        """Note that a file is on its way."""

    def progressed(self, file: Found, embedded: int, total: int) -> None:
        """Note how many chunks of a file are embedded by now, and of how many."""

    def waits(self, seconds: float) -> None:
        """Note that a file waits because the service asked for it."""

    def finished(self, done: Done, file: Found) -> None:
        """Note that a file was dealt with."""


@dataclass(slots=True)
class Batch:
    """The files of one call and what became of them."""

    observer: Observer
    done: list[Done] = field(default_factory=list)
    gave_up: ApiError | None = None
    """The error after which no more files were tried: the service stayed away for longer than a file waits."""

    async def run(self, sender: Sends, files: Iterable[Found], jobs: int) -> None:
        """Send the files, at most `jobs` at a time, and stop early when the service stays away."""
        queue = iter(files)
        async with asyncio.TaskGroup() as group:
            for _ in range(jobs):
                group.create_task(self._work(sender, queue))

    async def _work(self, sender: Sends, queue: Iterator[Found]) -> None:
        for file in queue:
            if self.gave_up:
                return
            self.observer.started(file)
            began = time.monotonic()
            done = replace(await self._deal_with(sender, file), seconds=time.monotonic() - began)
            self.done.append(done)
            self.observer.finished(done, file)

    async def _deal_with(self, sender: Sends, file: Found) -> Done:
        try:
            result, sends = await self._send_patiently(sender, file)
        except ApiError as error:
            if error.unreachable or is_busy(error):
                self.gave_up = error
            return Done(file.path, file.source_url, Outcome.FAILED, error=error)
        except OSError as error:
            return Done(file.path, file.source_url, Outcome.FAILED, error=unreadable(error))
        return Done(file.path, file.source_url, Outcome(result["outcome"]), result, sends=sends)

    async def _send_patiently(self, sender: Sends, file: Found) -> tuple[dict[str, Any], int]:
        began = time.monotonic()
        sends = 0
        while True:
            sends += 1
            try:
                return await sender.send(file, lambda *chunks: self.observer.progressed(file, *chunks)), sends
            except ApiError as error:
                pause = pause_before_next(error, sends, time.monotonic() - began)
                if pause is None:
                    raise
                self.observer.waits(pause)
                await asyncio.sleep(pause)


def pause_before_next(error: ApiError, sends: int, waited: float) -> float | None:
    """Return the seconds to wait before the file is sent again, or nothing where that would not help.

    `sends` counts the sends so far, `waited` is the time since the first one. What `Retry-After` says is honoured
    within the bound.
    """
    if error.unreachable:
        most = REACH_SECONDS
    elif is_busy(error) or error.code == "ABORTED":
        most = WAIT_SECONDS
    elif error.code in ("UNAVAILABLE", "DEADLINE_EXCEEDED") and sends < _MOST_SENDS:
        most = WAIT_SECONDS * _MOST_SENDS
    else:
        return None
    grown = min(_LONGEST_PAUSE, 0.5 * 2 ** min(sends, 6))
    pause = error.retry_after or grown * random.uniform(0.75, 1.0)  # noqa: S311  # spreads waits, guards nothing
    return pause if waited + pause <= most else None


def is_busy(error: ApiError) -> bool:
    """Tell whether the service refused whatever the file: a budget is used up, or a part is away or overloaded."""
    busy = error.code in ("RESOURCE_EXHAUSTED", "UNAVAILABLE") and error.status != 0
    return busy or error.status in (429, 503)
