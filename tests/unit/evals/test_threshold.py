import xml.etree.ElementTree as ET

import pytest

from evals import curves
from evals.outcome import Kind, Scope
from evals.plot import chart
from evals.storage import SetFacts
from evals.threshold import thresholds
from tests.unit.evals.made import asked


def facts(name: str = "cities", lang: str = "en", chunks: int = 10) -> SetFacts:
    return SetFacts(
        name=name,
        lang=lang,
        digest="d",
        commit="c",
        documents=3,
        chunks=chunks,
        refused={},
        questions=4,
        seconds={"questions": 1.0},
        space={"model": "m"},
    )


def rows(scope: Scope = Scope.ALONE, name: str = "cities", lang: str = "en") -> list[object]:
    right = [asked(best_cosine=score, gold_cosine=score) for score in (0.5, 0.6, 0.7, 0.8)]
    wrong = [asked(Kind.OFF, best_cosine=score) for score in (0.1, 0.2, 0.3, 0.55)]
    return [type(one)(**{**one.to_json(), "scope": scope, "set_name": name, "lang": lang}) for one in [*right, *wrong]]


def test_the_gate_starts_where_95_in_100_found_questions_pass() -> None:
    scores = [0.30] * 5 + [0.31] + [0.60] * 94
    made = curves.curves([asked(best_cosine=score, gold_cosine=0.2) for score in scores])

    assert made is not None
    assert curves.gate_start(made) == pytest.approx(0.31)


def test_a_question_whose_gold_was_not_found_does_not_hold_the_gate_open() -> None:
    made = curves.curves([asked(best_cosine=0.6), *[asked(best_cosine=0.1, gold_cosine=None)] * 9])

    assert made is not None
    assert curves.gate_start(made) == pytest.approx(0.60)


def test_right_and_wrong_part_best_at_the_cut() -> None:
    made = curves.curves(rows())  # type: ignore[arg-type]  # rows of `asked`

    assert made is not None
    # from 0.31 to 0.50 all right ones pass and one wrong one of four: the lowest of them is taken
    assert curves.best_cut(made) == pytest.approx(0.31)
    assert curves.at(made, 0.31, Kind.OFF) == pytest.approx(0.25)


def test_the_chunk_filter_keeps_99_in_100_gold_passages() -> None:
    made = curves.curves([asked(gold_cosine=0.30 if at == 0 else 0.60) for at in range(100)])

    assert made is not None
    assert curves.chunk_filter(made) == pytest.approx(0.60)


def test_a_passage_exactly_at_the_threshold_stays() -> None:
    made = curves.curves([asked(gold_cosine=0.6)])

    assert made is not None
    assert made.gold_kept[60] == 1.0
    assert made.gold_kept[61] == 0.0


def test_without_wrong_questions_there_is_no_cut() -> None:
    made = curves.curves([asked()])

    assert made is not None
    assert curves.best_cut(made) is None


def test_without_gold_found_there_are_no_curves() -> None:
    assert curves.curves([asked(gold_cosine=None)]) is None
    assert thresholds([facts()], [asked(gold_cosine=None)]) is None


def test_each_set_counts_the_same() -> None:
    low = curves.curves([asked(gold_cosine=0.1, best_cosine=0.1)])
    high = curves.curves([asked(gold_cosine=0.9, best_cosine=0.9)] * 9)
    assert low is not None
    assert high is not None
    made = curves.mean_of([low, high])

    assert made is not None
    assert curves.at(made, 0.5, Kind.ANSWERABLE) == pytest.approx(0.5)


def test_the_language_of_the_model_decides_in_its_larger_library() -> None:
    all_rows = [*rows(), *rows(Scope.TOGETHER), *rows(name="staedte", lang="de")]
    found = thresholds([facts(), facts("other", chunks=5), facts("staedte", "de", 7)], all_rows)  # type: ignore[arg-type]

    assert found is not None
    assert (found.language, found.model, found.gate_start) == ("en", "m", pytest.approx(0.50))
    assert {one.name: one.chunks for one in found.libraries} == {
        "cities/alone": 10,
        "cities/together": 15,
        "staedte/alone": 7,
    }
    assert "min_similarity 0.50, gate_start 0.50" in found.printed()
    assert set(found.charts) == {"quality-gate-alone.svg", "quality-gate-together.svg", "quality-filter.svg"}


def test_the_filter_is_that_of_the_library_that_would_lose_more() -> None:
    far = [type(one)(**{**one.to_json(), "gold_cosine": 0.2}) for one in rows() if one.kind is Kind.ANSWERABLE]  # type: ignore[attr-defined]
    found = thresholds([facts()], [*far, *rows(Scope.TOGETHER)])  # type: ignore[list-item]

    assert found is not None
    assert (found.chunk_filter, found.gate_start) == (pytest.approx(0.20), pytest.approx(0.50))


def test_a_chart_is_well_formed_and_keeps_names_as_text() -> None:
    made = chart("a < b", "x & y", [0.0, 0.5, 0.9], {"<script>": [1.0, 0.5, 0.0]}, 0.42)
    root = ET.fromstring(made)  # noqa: S314  # made here

    assert root.find("{*}title") is not None
    assert "<script>" not in made
    assert len(root.findall("{*}polyline")) == 1
