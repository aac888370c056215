"""A run as a reader and as a program sees it."""

import json

from bench.lines.search import STATEMENT
from bench.report import Line, as_json, table
from bench.statistics import summaries
from services.retrieval.store import SEARCH_VECTOR

FOUND = summaries({"bare": [1.0, 2.0], "service": [2.0, 4.0]}, "bare")


def test_the_table_shows_each_way_with_its_ratio() -> None:
    shown = table(Line("search", "one search", FOUND, {}, ""))

    assert "search: one search" in shown
    assert "service" in shown
    assert "2.00 (2.00-2.00)" in shown
    assert "CPU" not in shown
    assert "noisy" not in shown


def test_the_table_says_when_the_machine_was_too_noisy() -> None:
    assert "Too noisy: the load was 3.0 a core." in table(Line("search", "", FOUND, {}, "the load was 3.0 a core"))


def test_processor_time_has_columns_of_its_own() -> None:
    assert "CPU ms" in table(Line("embed", "", FOUND, FOUND, ""))


def test_the_figures_are_json() -> None:
    (line,) = json.loads(json.dumps(as_json([Line("search", "one search", FOUND, {}, "")])))

    assert line["found"]["service"]["ratio"] == 2


def test_the_floor_asks_what_the_service_asks() -> None:
    assert STATEMENT.split("(")[0] == SEARCH_VECTOR.split("(")[0]
    assert STATEMENT.count(",") == SEARCH_VECTOR.count(",")
