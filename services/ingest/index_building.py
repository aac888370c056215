"""Builds the vector index of a space once a load has gone in, many times faster than row by row."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self

from services.common.errors import DomainError

LOOK_SECONDS = 15.0
"""Between two looks at a space."""
MOST_GROWTH = 0.05
"""Share by which a space may have grown since the last look: more than that is a load that still goes on."""

_log = logging.getLogger(__name__)


class VectorIndex(Protocol):
    """The index of the space that is written to."""

    async def due_size(self) -> int | None:
        """Return the bytes of the vectors when there are enough for the index and it is not there; else None."""
        ...

    async def build(self) -> bool:
        """Build it and tell whether that was done; searches go on meanwhile, writes wait."""
        ...


class IndexBuilding:
    """Looks now and then whether the index is due and the load over, and builds it; use as `async with`.

    A failure is logged and tried again at the next look, since searches are right without the index and only slower.
    """

    def __init__(self, index: VectorIndex, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Take the index and what waits between looks."""
        self._index = index
        self._sleep = sleep
        self._last: int | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to look."""
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop; what is being built is given up and begun anew by whoever looks next."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def look(self) -> bool:
        """Look once; build and tell so when the index is due and the space has hardly grown since the last look."""
        size, before = await self._index.due_size(), self._last
        self._last = size
        if size is None or before is None or size > before * (1 + MOST_GROWTH):
            return False
        return await self._index.build()

    async def _run(self) -> None:
        while True:
            await self._sleep(LOOK_SECONDS)
            try:
                if await self.look():
                    _log.info("vector index built")
            except DomainError as error:
                _log.info("vector index not built", extra={"fields": {"reason": error.reason.value}})
