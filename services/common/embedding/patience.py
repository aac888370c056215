"""The one layer of retries around a hosted model: few attempts, growing pauses, one end for all of them."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from services.common.embedding.openai_failures import AttemptError, unanswered

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often a model is asked before the caller hears that it failed; times in seconds."""

    attempts: int = 4
    seconds: float = 60.0
    """For passages, all attempts and pauses included; the caller's deadline ends it before."""
    question_seconds: float = 8.0
    """The same for a question, which somebody waits for."""
    first_pause: float = 0.5
    longest_pause: float = 8.0

    async def repeated(self, call: Callable[[], Awaitable[T]], seconds: float) -> T:
        """Return what `call` returns, tried again after failures that pass; raise the last one's DomainError.

        All attempts end within `seconds`, and none takes more than half of them, so that a hung one leaves time for
        another. A pause that the endpoint asks for is kept, or the call fails at once where there is no time for it.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        for attempt in range(1, self.attempts + 1):
            try:
                async with asyncio.timeout(min(end - loop.time(), seconds / 2)):
                    return await call()
            except TimeoutError:
                failure = unanswered()
            except AttemptError as raised:
                failure = raised
            pause = self._pause(attempt) if failure.pause is None else failure.pause
            is_last = not failure.is_passing or attempt == self.attempts or loop.time() + pause >= end
            facts = {"reason": failure.error.reason, "attempt": attempt, "again_in_s": None if is_last else pause}
            _log.warning("embedding call failed", extra={"fields": facts})
            if is_last:
                raise failure.error from None
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _pause(self, attempt: int) -> float:
        """Return a pause that doubles with each attempt, shortened by up to a half so that callers do not march."""
        whole: float = min(self.longest_pause, self.first_pause * 2 ** (attempt - 1))
        return whole * random.uniform(0.5, 1)  # noqa: S311  # not a secret
