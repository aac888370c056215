"""How far an ingest has come, for callers whose time was not enough."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.common.errors import DeadlineExceededError, Reason

_HEAD_START_SECONDS = 2.0
"""Time that the refusal has to reach the caller: at the deadline itself gRPC hangs up, and nothing can be said."""


class Extent:
    """Hears of one ingest, and ends it a little before the deadline with what is done and that it is not lost."""

    def __init__(self, remaining: Callable[[], float]) -> None:
        """Take a function that tells how many seconds the call has left."""
        self._remaining = remaining
        self._embedded = 0
        self._total = 0

    async def reached(self, embedded: int, total: int) -> None:
        """Hear how many chunks have a vector by now, and how many need one."""
        self._embedded, self._total = embedded, total

    @asynccontextmanager
    async def told_at_the_deadline(self) -> AsyncIterator[None]:
        """Raise DeadlineExceededError where time runs out within the block; let all else through."""
        seconds = self._remaining()
        try:
            async with asyncio.timeout(seconds - min(_HEAD_START_SECONDS, seconds / 10)) as bound:
                yield
        except (TimeoutError, DeadlineExceededError) as error:
            if isinstance(error, TimeoutError) and not bound.expired():
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
