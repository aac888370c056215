"""Runs ways to do the same thing in turns, so that whatever slows the machine slows all of them."""

import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Way: TypeAlias = Callable[[int], Awaitable[float | None]]
"""Does the work of one round, and returns the milliseconds that it took where it knows better than a clock outside."""


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one way, round by round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Processor time of this process alone, all threads."""


async def interleaved(ways: Mapping[str, Way], rounds: int, warm_up: int = 3) -> dict[str, Times]:
    """Return what each way took in each round; the order turns by one from round to round."""
    times = {name: Times() for name in ways}
    names = list(ways)
    for number in range(-warm_up, rounds):
        for turn in range(len(names)):
            name = names[(turn + number) % len(names)]
            wall, cpu = await _timed(ways[name], number % rounds)
            if number >= 0:
                times[name].wall.append(wall)
                times[name].cpu.append(cpu)
    return times


def load_per_core() -> float:
    """Return the tasks that wanted a core in the last minute, per core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


async def _timed(way: Way, number: int) -> tuple[float, float]:
    began, worked = time.perf_counter(), time.process_time()
    own = await way(number)
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    return own if own is not None else wall * 1000, cpu * 1000
