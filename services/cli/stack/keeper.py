"""Keeps one part running: starts it again after it ended by itself, with growing pauses and a limit."""

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from services.cli.stack.part import Part, PartSpec
from services.cli.stack.restarts import RestartLimits, RestartPolicy
from services.cli.stack.state import Condition, PartState

_BLOCKED_SECONDS = 1.0
_log = logging.getLogger("attest.supervisor")


def never_blocked() -> str | None:
    """Say that nothing stands in the way of a restart."""
    return None


class Keeper:
    """One part and its restarts."""

    def __init__(
        self,
        spec: PartSpec,
        logs: Path,
        *,
        inherited: Sequence[int] = (),
        changed: Callable[[], None] = lambda: None,
        blocked: Callable[[], str | None] = never_blocked,
        limits: RestartLimits | None = None,
    ) -> None:
        """Take how to run the part.

        `changed` is called at every change of its state. `blocked` says why a restart cannot succeed now, which then
        waits and does not count.
        """
        self.spec = spec
        self._logs = logs
        self._inherited = inherited
        self._changed = changed
        self._blocked = blocked
        self._policy = RestartPolicy(limits or RestartLimits())
        self._asked = asyncio.Event()
        self._part: Part | None = None
        self._state = PartState(None, spec.port, Condition.ENDED, time.time())

    @property
    def state(self) -> PartState:
        """Return how the part is."""
        return self._state

    @property
    def part(self) -> Part:
        """Return the process that runs, or that ran last; `start` comes first."""
        if self._part is None:
            raise RuntimeError("the part was never started")
        return self._part

    async def start(self) -> None:
        """Start the part; raise OSError when it cannot run."""
        self._part = await Part.start(self.spec, self._logs, self._inherited)
        self._become(replace(self._state, pid=self._part.pid, state=Condition.RUNNING, started_at=time.time()))

    async def keep(self) -> None:
        """Start the part again whenever it ends, until cancelled."""
        while True:
            await self.part.wait()
            self.part.end_offspring()
            await self._pause()
            await self._start_again()

    def ask(self) -> None:
        """Start the part at once where it waits or was given up, and count its restarts anew."""
        if self._state.state in (Condition.RESTARTING, Condition.DOWN):
            self._asked.set()

    async def stop(self) -> None:
        """End the part and return when it has ended."""
        if self._part is None:
            return
        ended_before = self._part.exit_code is not None
        code = await self._part.stop()
        self._part.end_offspring()
        if not ended_before and code != 0:
            _log.warning("part did not end well", extra={"fields": {"part": self.spec.name, "code": code}})
        self._become(replace(self._state, pid=None, state=Condition.ENDED, last_end=how_it_ended(code)))

    async def _pause(self) -> None:
        """Return when the part is to be started."""
        end = how_it_ended(self.part.exit_code)
        pause = self._policy.pause_after_end(time.monotonic())
        _log.warning("part ended", extra={"fields": {"part": self.spec.name, "end": end, "pause_s": pause}})
        ended = replace(self._state, pid=None, last_end=end)
        if pause is None:
            detail = f"{end}. Its last log lines ({self.part.log}):\n{self.part.last_lines()}"
            self._become(replace(ended, state=Condition.DOWN, detail=detail))
            await self._wait_asked(None)
        else:
            self._become(replace(ended, state=Condition.RESTARTING, detail=f"{end}; starts again after {pause:g} s"))
            await self._wait_asked(pause)
        while (reason := self._blocked()) is not None:
            self._become(replace(ended, state=Condition.RESTARTING, detail=f"{end}; {reason}"))
            await self._wait_asked(_BLOCKED_SECONDS)

    async def _wait_asked(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._asked.wait()
            self._policy.forget()
        except TimeoutError:
            pass
        self._asked.clear()

    async def _start_again(self) -> None:
        """Start the part; when that fails, the next round counts it as one more end."""
        self._state = replace(self._state, restarts=self._state.restarts + 1, detail=None)
        try:
            await self.start()
        except OSError as error:
            fields = {"part": self.spec.name, "error": error.strerror}
            _log.error("part cannot be started", extra={"fields": fields})

    def _become(self, state: PartState) -> None:
        if state != self._state:
            self._state = state
            self._changed()


def how_it_ended(code: int | None) -> str:
    """Describe an exit code for a person."""
    if code is None or code >= 0:
        return f"ended with {code}"
    hint = " (by hand, or by the kernel for want of memory)" if -code == signal.SIGKILL else ""
    return f"killed by {signal.Signals(-code).name}{hint}"
