import json
from dataclasses import replace
from pathlib import Path

from evals.outcome import Asked, Kind, Scope
from evals.report import compiled, write
from evals.storage import WorkFolder, measured, settings
from evals.table import printed
from tests.unit.evals.made import asked
from tests.unit.evals.test_threshold import facts

PLAN = {"settings": {"GUARD": "off"}, "traps": True, "most_traps": 5, "sizes": {}}
ROWS = [
    asked(),
    asked(scope=Scope.TOGETHER, ranked=()),
    asked(Kind.OFF, best_cosine=0.1, outcome="NO_EVIDENCE"),
    asked(Kind.NEAR, golds=("Elbe",)),
]


def test_what_was_asked_is_read_as_it_was_written(tmp_path: Path) -> None:
    work = WorkFolder(tmp_path / "work", PLAN, resume=False)
    work.save(facts(), ROWS)

    assert work.load(["cities"]) == ([facts()], ROWS)
    assert measured(tmp_path / "work") == ([facts()], ROWS)
    assert settings(tmp_path / "work") == PLAN


def test_a_run_that_is_resumed_keeps_what_is_there(tmp_path: Path) -> None:
    WorkFolder(tmp_path, PLAN, resume=False).save(facts(), ROWS)
    work = WorkFolder(tmp_path, PLAN, resume=True)

    assert work.has("cities", "d")
    assert not work.has("cities", "other files")
    assert not work.has("elsewhere", "d")


def test_a_run_with_other_settings_begins_anew(tmp_path: Path) -> None:
    WorkFolder(tmp_path, PLAN, resume=False).save(facts(), ROWS)

    assert not WorkFolder(tmp_path, {**PLAN, "most_traps": 6}, resume=True).has("cities", "d")


def test_a_run_that_is_not_resumed_begins_anew(tmp_path: Path) -> None:
    WorkFolder(tmp_path, PLAN, resume=False).save(facts(), ROWS)

    assert not WorkFolder(tmp_path, PLAN, resume=False).has("cities", "d")


def test_the_page_shows_figures_intervals_and_where_they_come_from(tmp_path: Path) -> None:
    report = compiled(PLAN, [facts()], ROWS)
    write(report, tmp_path)
    page = (tmp_path / "quality.md").read_text()

    assert "| cities | 1.000 [1.000, 1.000]" in page
    assert "`ATTEST_GUARD=off`" in page
    assert "at most 5 of a kind and set" in page
    assert "All measured corpora of a language together" in page
    assert (tmp_path / "quality-gate-alone.svg").read_text() in report.thresholds.charts.values()  # type: ignore[union-attr]


def test_the_json_holds_every_figure_by_library(tmp_path: Path) -> None:
    write(compiled(PLAN, [facts()], ROWS), tmp_path)
    told = json.loads((tmp_path / "quality.json").read_text())

    assert set(told["figures"]) == {"cities/alone", "cities/together", "en/together"}
    assert told["figures"]["cities/alone"]["false_near"] == {
        "value": 1.0,
        "low": 1.0,
        "high": 1.0,
        "n": 1,
        "clusters": 1,
    }
    assert told["run"]["commits"] == ["c"]


def test_what_the_filter_changes_is_shown_and_only_that(tmp_path: Path) -> None:
    write(compiled(PLAN, [facts()], ROWS), tmp_path)
    page = (tmp_path / "quality.md").read_text()

    assert "| cities/together | 0.000 / 1.000 |" in page
    assert "| cities/alone | 1.000 / 1.000 |" not in page


def failing(rows: list[Asked]) -> bool:
    return compiled(PLAN, [facts()], rows).failed


def test_a_failed_call_or_a_refused_document_fails_the_run() -> None:
    assert not failing(ROWS)
    assert failing([asked(outcome="FAILED", error="UNAVAILABLE")])
    assert compiled(PLAN, [replace(facts(), refused={"b1": "TEXT_MALFORMED"})], ROWS).failed
    assert not compiled(PLAN, [replace(facts(), refused={"b1": "DOCUMENT_EMPTY"})], ROWS).failed


def test_the_table_fits_a_wide_terminal() -> None:
    lines = printed(compiled(PLAN, [facts()], ROWS)).splitlines()

    assert max(map(len, lines)) <= 110
    assert lines[1].split()[:3] == ["cities/alone", "1.000", "1.000"]
