"""The lines that can be measured, by name."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from bench import statistics
from bench.lines import answer, embedding, peers, search, storing
from bench.report import Line
from bench.rounds import Way, interleaved, load_per_core


@dataclass(frozen=True, slots=True)
class Measurable:
    """How the ways of a line are opened; the first is the floor."""

    what: str
    ways: Callable[[], AbstractAsyncContextManager[dict[str, Way]]]
    by_default: bool = True
    is_in_process: bool = True
    """All of the work is done in the measuring process, so that its CPU time tells something."""


LINES = {
    "embed-chunks": Measurable(
        f"{embedding.BATCH} chunks of about 140 tokens", partial(embedding.ways, embedding.CHUNKS)
    ),
    "embed-questions": Measurable(
        f"{embedding.BATCH} questions", partial(embedding.ways, embedding.QUESTIONS, as_questions=True)
    ),
    "search": Measurable("one search for five of the example passages", search.ways, is_in_process=False),
    "answer": Measurable("one question of the demo", answer.ways, is_in_process=False),
    "store": Measurable(
        f"one document of {storing.CHUNKS} chunks with ready vectors, no index yet",
        partial(storing.ways, indexed=False),
        is_in_process=False,
    ),
    "store-indexed": Measurable(
        f"one document of {storing.CHUNKS} chunks with ready vectors, into a live index",
        partial(storing.ways, indexed=True),
        is_in_process=False,
    ),
    "peers": Measurable(
        "one search for five of the example passages", peers.ways, by_default=False, is_in_process=False
    ),
    "store-peers": Measurable(
        f"{storing.CHUNKS} chunks with ready vectors, no index yet",
        storing.ways_of_peers,
        by_default=False,
        is_in_process=False,
    ),
}


async def measure(name: str, rounds: int) -> Line:
    """Run one line."""
    line = LINES[name]
    loads = [load_per_core()]
    async with line.ways() as ways:
        times = await interleaved(ways, rounds)
    loads.append(load_per_core())
    floor = next(iter(times))
    found = statistics.summaries({way: taken.wall for way, taken in times.items()}, floor)
    cpu = statistics.summaries({way: taken.cpu for way, taken in times.items()}, floor) if line.is_in_process else {}
    return Line(name, line.what, found, cpu, statistics.noise(found, loads))
