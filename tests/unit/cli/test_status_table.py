"""The status fits a terminal of 80 columns."""

from pathlib import Path

import pytest

from services.cli.stack.keeper import how_it_ended
from services.cli.stack.space import SpaceWatch
from services.cli.stack.state import Condition, PartState, Phase, StackState
from services.cli.stack.status import Contents, Disk, Report, described
from services.cli.status_table import duration, print_report, size

DAY = 86_400.0
PARTS = {
    "postgres": PartState(4_194_303, 65535, Condition.RUNNING, started_at=0.0, restarts=12),
    "answer": PartState(
        None, 50053, Condition.DOWN, 0.0, 5, "ended with 1", "ended with 1. Its last log lines (x):\ny"
    ),
}
SPACE = {"space_id": 12, "model": "all-MiniLM-L6-v2", "dimensions": 384}


def _report(state: StackState | None, contents: Contents | None = None, database: str = "reachable") -> Report:
    versions = {"attest": "10.10.10", "postgres": "18.6", "pgvector": "0.8.6", "envoy": "1.40.0"}
    return Report(Path("/h"), state, versions, contents, database, Disk(1, None, 10**12))


def test_the_table_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    state = StackState(Phase.READY, 1, 0.0, PARTS)
    print_report(_report(state, Contents(123_456, 9_876_543, "0005", SPACE)), now=123 * DAY)
    lines = capsys.readouterr().out.splitlines()

    assert max(len(line) for line in lines) <= 80
    assert any(line.split() == ["postgres", "running", "65535", "4194303", "123d", "00:00:00", "12"] for line in lines)


def test_a_part_that_stays_down_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(_report(StackState(Phase.READY, 1, 0.0, PARTS), None, "down: It is away."), now=9.0)
    said = capsys.readouterr().out

    assert "answer: ended with 1. Its last log lines (x):\ny\n" in said
    assert "Start what is down: attest up" in said
    assert "database down: It is away." in said


def test_a_stopped_stack_says_where_it_would_be(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(_report(None), now=9.0)

    assert capsys.readouterr().out.startswith("Attest is not running in /h.   (start: attest up)")


def test_the_gateway_is_said_to_be_where_it_was_started(capsys: pytest.CaptureFixture[str]) -> None:
    state = StackState(Phase.READY, 1, 0.0, PARTS, gateway="http://[::1]:8080")
    print_report(_report(state), now=9.0)

    assert "gateway    http://[::1]:8080\n" in capsys.readouterr().out
    assert described(_report(state), now=9.0)["gateway"] == "http://[::1]:8080"
    assert described(_report(None), now=9.0)["gateway"] is None


def test_json_says_the_same() -> None:
    told = described(_report(StackState(Phase.READY, 1, 0.0, PARTS), Contents(1, 2, "0005", SPACE)), now=60.0)

    assert (told["phase"], told["whole"], told["documents"], told["chunks"]) == ("ready", False, 1, 2)
    assert (told["parts"]["postgres"]["uptime_s"], told["parts"]["answer"]["uptime_s"]) == (60.0, None)


@pytest.mark.parametrize(("seconds", "shown"), [(-1, "00:00:00"), (3_661.9, "01:01:01"), (DAY * 2 + 1, "2d 00:00:01")])
def test_times_are_short(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(("count", "shown"), [(None, "unknown"), (999, "999 B"), (52_100_000, "52.1 MB")])
def test_sizes_are_short(count: int | None, shown: str) -> None:
    assert size(count) == shown


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (0, "ended with 0"),
        (-15, "killed by SIGTERM"),
        (-9, "killed by SIGKILL (by hand, or by the kernel for want of memory)"),
    ],
)
def test_the_end_of_a_part_is_told_in_words(code: int, shown: str) -> None:
    assert how_it_ended(code) == shown


def test_writes_do_not_come_and_go_at_the_edge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = iter([100, 99, 110, 125])
    monkeypatch.setattr("services.cli.stack.space.free_bytes", lambda _: next(free))
    watch = SpaceWatch(tmp_path, reserve_bytes=100)

    assert [(watch.look(), watch.low) for _ in range(4)] == [
        (False, False),
        (True, True),
        (False, True),
        (True, False),
    ]
