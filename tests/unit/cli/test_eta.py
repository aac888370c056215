"""Whether the time that is said to be left is the time that is left."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.cli.api import ApiError
from services.cli.batch import Done, Outcome
from services.cli.collect import Found
from services.cli.eta import WINDOW_SECONDS, Work

RATE = 3_000.0
"""Tokens a second of the pretended service."""


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def found(name: str, size: int) -> Found:
    return Found(Path(f"/docs/{name}"), f"docs/{name}", size)


def done(file: Found, outcome: Outcome = Outcome.CREATED, tokens: int = 0, seconds: float = 0.0) -> Done:
    result: dict[str, Any] = {"tokens_embedded": tokens, "chunks_added": tokens // 160}
    error = ApiError(400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY", "No text.") if outcome is Outcome.FAILED else None
    return Done(file.path, file.source_url, outcome, result, error, seconds)


def new(file: Found) -> bool:
    return True


def library(seed: int) -> dict[Found, int]:
    """Markdown, changed Markdown and PDFs in any order, with the tokens that each has to be embedded for."""
    chance = random.Random(seed)  # noqa: S311  # sizes of pretended files
    files: dict[Found, int] = {}
    for number in range(120):
        kind = chance.choice(("new.md", "changed.md", "paper.pdf"))
        size = int(chance.lognormvariate(13 if kind == "paper.pdf" else 9, 1))
        per_byte = {"new.md": 0.5, "changed.md": 0.01, "paper.pdf": 0.05}[kind] * chance.uniform(0.7, 1.4)
        files[found(f"{number}-{kind}", size)] = int(size * per_byte)
    return files


def pretended(work: Work, files: dict[Found, int], jobs: int, clock: Clock) -> Iterator[None]:
    """Go through an ingest at one rate for all that is on its way; yield at each end. Uploads tell how far they are."""
    waiting = [(file, tokens + RATE * 0.015) for file, tokens in files.items()]
    costs = dict(waiting)
    under_way: dict[Found, float] = {}
    while waiting or under_way:
        while waiting and len(under_way) < jobs:
            file, cost = waiting.pop(0)
            under_way[file] = cost
            work.started(file)
        first = min(under_way, key=under_way.__getitem__)
        share = under_way.pop(first)
        clock.now += share * (len(under_way) + 1) / RATE
        under_way = {file: cost - share for file, cost in under_way.items()}
        for file, cost in under_way.items():
            if file.media_type == "application/pdf":
                work.progressed(file, *chunks(files[file], cost / costs[file]))
        work.finished(first, done(first, tokens=files[first]))
        yield


def chunks(tokens: int, left: float) -> tuple[int, int]:
    """Return how many chunks are embedded, and of how many; one has 160 tokens."""
    total = max(1, tokens // 160)
    return int(total * (1 - left)), total


@pytest.mark.parametrize("jobs", [1, 2, 8])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_to_be_left_is_left(clock: Clock, seed: int, jobs: int) -> None:
    """From a quarter of the time on within a third, though the kinds of files differ twentyfold."""
    files = library(seed)
    work = Work(files, lambda file: "changed" not in file.source_url, clock)
    said = [(clock.now, work.seconds_left()) for _ in pretended(work, files, jobs, clock)]
    total = clock.now - 1000.0
    errors = [
        abs(seconds - left) / left
        for moment, seconds in said
        if seconds is not None
        if 0.1 * total < (left := clock.now - moment) < 0.75 * total
    ]

    assert len(errors) > 20
    assert sorted(errors)[int(len(errors) * 0.9)] < 0.34


def test_files_that_turn_out_unchanged_or_fail_do_not_make_it_faster(clock: Clock) -> None:
    files = [found(f"{number}.md", 10_000) for number in range(100)]
    work = Work(files, new, clock)
    for file in files[:60]:
        work.started(file)
        work.started(files[99])
        clock.now += 0.01
        work.finished(file, done(file, Outcome.UNCHANGED))
    assert work.seconds_left() is None
    for file in files[60:70]:
        clock.now += 1.0
        work.finished(file, done(file, tokens=2_500))
    for file in files[70:80]:
        work.finished(file, done(file, Outcome.FAILED))

    said = work.seconds_left()
    assert said == pytest.approx(20, rel=0.15)


def test_scans_that_are_refused_promise_that_others_bring_as_little(clock: Clock) -> None:
    """Each is read for a second, and has far more bytes than text."""
    scans = [found(f"{number}.pdf", 10_000_000) for number in range(30)]
    work = Work(scans, new, clock)
    for scan in scans[:10]:
        clock.now += 1
        work.finished(scan, done(scan, Outcome.FAILED, seconds=1.0))

    assert work.seconds_left() == pytest.approx(20, rel=0.3)


def test_progress_within_a_file_counts(clock: Clock) -> None:
    file = found("long.pdf", 10_000_000)
    work = Work([file], new, clock)
    for part in range(1, 6):
        clock.now += 10
        work.progressed(file, part * 100, 1000)

    assert work.seconds_left() == pytest.approx(50, rel=0.05)


def test_an_upload_weighs_what_its_chunks_are_counted_to(clock: Clock) -> None:
    """However small its file is."""
    dense, page = found("dense.pdf", 10_000), found("page.md", 8_000)
    work = Work([dense, page], new, clock)
    work.started(dense)
    clock.now += 10
    work.progressed(dense, 100, 1000)

    assert work.seconds_left() == pytest.approx(90, rel=0.1)


def test_how_much_a_chunk_weighs_is_learned(clock: Clock) -> None:
    """Of a lane with chunks of five tokens a thousand of them are not much."""
    page, dense = found("page.md", 8_000), found("dense.pdf", 10_000)
    work = Work([page, dense], new, clock)
    work.finished(page, replace(done(page), result={"tokens_embedded": 2_000, "chunks_added": 400}))
    work.started(dense)
    clock.now += 10
    work.progressed(dense, 100, 1000)

    assert work.seconds_left() == pytest.approx(19, rel=0.1)


def test_files_on_their_way_count_as_half_done(clock: Clock) -> None:
    """Eight of twelve are on their way all the time, and of them one ends each second."""
    files = [found(f"{number}.md", 8_000) for number in range(12)]
    work = Work(files, new, clock)
    for file in files[:8]:
        work.started(file)
    clock.now += 4
    for ended, begun in zip(files[:4], files[8:], strict=True):
        clock.now += 1
        work.finished(ended, done(ended, tokens=2_000))
        work.started(begun)

    # Seven on their way are worth three and a half; with those that ended, the rate is 7.5 in 8 seconds.
    assert work.seconds_left() == pytest.approx((4 + 8 - 7.5) / (7.5 / 8), rel=0.05)


def test_it_goes_down_between_two_files(clock: Clock) -> None:
    files = [found(f"{number}.md", 8_000) for number in range(10)]
    work = Work(files, new, clock)
    for file in files[:5]:
        clock.now += 4
        work.finished(file, done(file, tokens=2_000))
    said = work.seconds_left()
    clock.now += 3
    assert said is not None
    assert work.seconds_left() == pytest.approx(said - 3)


def test_silence_makes_it_slower(clock: Clock) -> None:
    """A long upload that is sent again, or stored, tells nothing for half a minute."""
    files = [found(f"{number}.md", 8_000) for number in range(10)]
    work = Work(files, new, clock)
    for file in files[:9]:
        clock.now += 4
        work.finished(file, done(file, tokens=2_000))
    said = []
    for _ in range(12):
        clock.now += 5
        said.append(work.seconds_left() or 0.0)

    assert said[0] == 1.0
    assert said[1:] == sorted(said)[1:]
    assert said[-1] > 4


def test_what_was_embedded_still_has_to_be_stored(clock: Clock) -> None:
    long = found("long.pdf", 1_000_000)
    work = Work([long], new, clock)
    work.started(long)
    clock.now += 60
    work.progressed(long, 1000, 1000)

    assert 1 < (work.seconds_left() or 0) < 3


def test_a_file_that_was_sent_again_says_nothing_of_what_a_chunk_weighs(clock: Clock) -> None:
    """What its earlier sends embedded is missing in its result."""
    pdf, page = found("long.pdf", 1_000_000), found("page.md", 80_000)
    work = Work([pdf, page], new, clock)
    clock.now += 100
    work.finished(pdf, replace(done(pdf), result={"tokens_embedded": 150, "chunks_added": 1000}, sends=3))

    assert work.seconds_left() == pytest.approx(13, rel=0.1)


def test_nothing_is_said_before_there_is_a_rate(clock: Clock) -> None:
    files = [found("a.md", 8_000), found("b.md", 8_000)]
    work = Work(files, new, clock)
    assert work.seconds_left() is None
    clock.now += 0.1
    work.finished(files[0], done(files[0], tokens=2_000))
    assert work.seconds_left() is None


def test_nothing_is_left_at_the_end(clock: Clock) -> None:
    file = found("a.md", 8_000)
    work = Work([file], new, clock)
    clock.now += 5
    work.finished(file, done(file, tokens=2_000))

    assert work.seconds_left() == 0.0


def test_a_machine_that_slows_down_is_noticed(clock: Clock) -> None:
    files = [found(f"{number}.md", 8_000) for number in range(200)]
    work = Work(files, new, clock)
    for file in files[:50]:
        clock.now += 1
        work.finished(file, done(file, tokens=2_000))
    slow = int(WINDOW_SECONDS / 4) + 1
    for file in files[50 : 50 + slow]:
        clock.now += 4
        work.finished(file, done(file, tokens=2_000))

    assert work.seconds_left() == pytest.approx((150 - slow) * 4, rel=0.1)
