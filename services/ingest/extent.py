"""How far an ingest has come, for callers whose time was not enough."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from services.common.errors import DeadlineExceededError, Reason


class Extent:
    """Hears of one ingest and tells at the deadline how much is done, and that it is not lost."""

    def __init__(self, remaining: Callable[[], float]) -> None:
        """Take a function that tells how many seconds the call has left."""
        self._remaining = remaining
        self._embedded = 0
        self._total = 0

    async def reached(self, embedded: int, total: int) -> None:
        """Hear how many chunks have a vector by now, and how many need one."""
        self._embedded, self._total = embedded, total

    @contextmanager
    def told_at_the_deadline(self) -> Iterator[None]:
        """Raise DeadlineExceededError where the block was ended by the deadline; let all else through."""
        try:
            yield
        except (asyncio.CancelledError, DeadlineExceededError):
            if self._remaining() > 0:
                raise
            raise self._too_little_time() from None

    def _too_little_time(self) -> DeadlineExceededError:
        if not self._embedded:
            return DeadlineExceededError(
                Reason.DEADLINE_EXCEEDED, "The time given was not enough to read the document; allow more, or split it."
            )
        return DeadlineExceededError(
            Reason.DEADLINE_EXCEEDED,
            f"The time given was enough to embed {self._embedded} of {self._total} chunks. "
            "Send it again to go on: they are kept for a day.",
            embeddedChunks=self._embedded,
            totalChunks=self._total,
        )
