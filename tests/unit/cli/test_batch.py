"""How a batch of files goes: several at a time, patient where asked, and honest about what failed."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from services.cli.api import ApiError, Progress
from services.cli.batch import Batch, Done, Outcome, pause_before_next
from services.cli.collect import Found

BUSY = ApiError(429, "RESOURCE_EXHAUSTED", "RATE_LIMITED", "Wait.", retry_after=0.001)
DOWN = ApiError(503, "UNAVAILABLE", "UPSTREAM_UNAVAILABLE", "Wait.", retry_after=0.001)
ABSENT = ApiError(0, "UNAVAILABLE", "GATEWAY_UNREACHABLE", "No answer.")
WRONG = ApiError(400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY", "No text.")
BROKEN = ApiError(0, "UNAVAILABLE", "CONNECTION_BROKEN", "Broke.")


class Silent:
    """An observer that counts the waits."""

    def __init__(self) -> None:
        self.waited = 0
        self.order: list[str] = []

    def started(self, file: Found) -> None:
        """Ignore it."""

    def progressed(self, file: Found, embedded: int, total: int) -> None:
        """Ignore it."""

    def waits(self, seconds: float) -> None:
        self.waited += 1

    def finished(self, done: Done, file: Found) -> None:
        self.order.append(file.source_url)


class Scripted:
    """A sender that does what the test says; it knows how many files are on their way at once."""

    def __init__(self, act: Callable[[Found, int], Awaitable[dict[str, Any]]]) -> None:
        self._act = act
        self._sends: dict[str, int] = {}
        self._now = 0
        self.most_at_once = 0

    async def send(self, file: Found, progress: Progress) -> dict[str, Any]:
        sends = self._sends[file.source_url] = self._sends.get(file.source_url, 0) + 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            return await self._act(file, sends)
        finally:
            self._now -= 1


def files(count: int) -> list[Found]:
    return [Found(Path(f"/{number}.md"), f"{number}.md", 10) for number in range(count)]


async def created(file: Found, sends: int) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"outcome": "CREATED"}


async def run(act: Callable[[Found, int], Awaitable[dict[str, Any]]], count: int = 1, jobs: int = 2) -> Batch:
    batch = Batch(Silent())
    await batch.run(Scripted(act), files(count), jobs)
    return batch


@pytest.mark.parametrize("jobs", [1, 3])
async def test_no_more_files_than_jobs_are_on_their_way(jobs: int) -> None:
    sender, batch = Scripted(created), Batch(Silent())

    await batch.run(sender, files(10), jobs)

    assert sender.most_at_once == jobs
    assert [done.outcome for done in batch.done] == [Outcome.CREATED] * 10


@pytest.mark.parametrize("refusal", [BUSY, DOWN], ids=["429", "503"])
async def test_a_refusal_that_passes_is_waited_for(refusal: ApiError) -> None:
    async def second_time(file: Found, sends: int) -> dict[str, Any]:
        if sends == 1:
            raise refusal
        return {"outcome": "REPLACED"}

    batch = await run(second_time)

    assert batch.observer.waited == 1  # type: ignore[attr-defined]
    assert batch.done[0].outcome is Outcome.REPLACED


async def test_a_file_that_is_refused_for_good_does_not_stop_the_others() -> None:
    async def first_is_wrong(file: Found, sends: int) -> dict[str, Any]:
        if file.source_url == "0.md":
            raise WRONG
        return {"outcome": "CREATED"}

    batch = await run(first_is_wrong, 3)

    assert sorted((done.source_url, done.outcome) for done in batch.done) == [
        ("0.md", Outcome.FAILED),
        ("1.md", Outcome.CREATED),
        ("2.md", Outcome.CREATED),
    ]


async def test_a_file_that_vanishes_fails_alone() -> None:
    async def vanishes(file: Found, sends: int) -> dict[str, Any]:
        raise FileNotFoundError(2, "No such file or directory")

    batch = await run(vanishes)

    assert batch.done[0].error is not None
    assert batch.done[0].error.reason == "FILE_UNREADABLE"


async def test_a_gateway_that_is_gone_ends_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.cli.batch.REACH_SECONDS", 0.0)

    async def absent(file: Found, sends: int) -> dict[str, Any]:
        raise ABSENT

    batch = await run(absent, 10, jobs=1)

    assert batch.gave_up is ABSENT
    assert len(batch.done) == 1


async def test_a_service_that_stays_away_ends_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.cli.batch.WAIT_SECONDS", 0.0)

    async def away(file: Found, sends: int) -> dict[str, Any]:
        raise DOWN

    batch = await run(away, 10, jobs=1)

    assert batch.gave_up is DOWN
    assert len(batch.done) == 1


async def test_a_document_that_somebody_else_ingests_too_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.cli.batch.WAIT_SECONDS", 0.0)

    async def met(file: Found, sends: int) -> dict[str, Any]:
        raise ApiError(409, "ABORTED", "DOCUMENT_BUSY", "Again.")

    batch = await run(met, 3)

    assert [done.outcome for done in batch.done] == [Outcome.FAILED] * 3


def test_a_broken_connection_is_tried_six_times() -> None:
    """So that a text of 20 MB, which takes several calls to embed, goes in by one command."""
    assert pause_before_next(BROKEN, 1, 0) is not None
    assert pause_before_next(BROKEN, 5, 5) is not None
    assert pause_before_next(BROKEN, 6, 10) is None


def test_what_retry_after_says_is_honoured_within_the_bound() -> None:
    asked_for = ApiError(429, "RESOURCE_EXHAUSTED", "RATE_LIMITED", "Wait.", retry_after=42)

    assert pause_before_next(asked_for, 1, 0) == 42
    assert pause_before_next(asked_for, 4, 179) is None


def test_pauses_grow_and_stay_below_a_bound() -> None:
    busy = ApiError(429, "RESOURCE_EXHAUSTED", "SERVICE_BUSY", "Busy.")
    pauses = [pause_before_next(busy, sends, 0) for sends in range(1, 12)]

    assert all(pause is not None and 0 < pause <= 15 for pause in pauses)
    assert pauses[0] < 1.01 < pauses[-1]  # type: ignore[operator]


def test_what_would_fail_again_is_not_tried_again() -> None:
    assert pause_before_next(WRONG, 1, 0) is None
    assert pause_before_next(ApiError(500, "INTERNAL", "INTERNAL", "Ours."), 1, 0) is None
