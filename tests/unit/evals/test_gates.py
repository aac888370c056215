from pathlib import Path

import pytest

from evals.bootstrap import Estimate
from evals.gates import FILE, Gate, GateError, broken, load, proposed


def figures(**values: float) -> dict[str, dict[str, Estimate]]:
    return {"cities/alone": {name: Estimate(value, value, value, 10, 5) for name, value in values.items()}}


def test_a_figure_within_what_it_may_vary_holds() -> None:
    assert broken(figures(recall_at_1=0.88), [Gate("cities/alone", "recall_at_1", 0.90, 0.02)]) == []


def test_a_figure_that_fell_is_named_with_its_bound() -> None:
    lines = broken(figures(recall_at_1=0.87), [Gate("cities/alone", "recall_at_1", 0.90, 0.02)])

    assert lines == ["cities/alone recall_at_1 is 0.870 and must be at least 0.880"]


@pytest.mark.parametrize("figure", ["false_near", "words", "failed"])
def test_some_figures_must_not_rise(figure: str) -> None:
    gate = Gate("cities/alone", figure, 0.10, 0.02)

    assert broken(figures(**{figure: 0.0}), [gate]) == []
    assert broken(figures(**{figure: 0.13}), [gate]) == [f"cities/alone {figure} is 0.130 and must be at most 0.120"]


def test_a_figure_that_rose_holds() -> None:
    assert broken(figures(recall_at_1=1.0), [Gate("cities/alone", "recall_at_1", 0.90, 0.02)]) == []


@pytest.mark.parametrize("gate", [Gate("elsewhere/alone", "mrr", 0.5, 0.1), Gate("cities/alone", "mrr", 0.5, 0.1)])
def test_a_figure_that_was_not_measured_does_not_pass(gate: Gate) -> None:
    assert broken(figures(recall_at_1=1.0), [gate]) == [f"{gate.where} mrr was not measured"]


def test_what_is_proposed_can_be_read_again(tmp_path: Path) -> None:
    gates = [Gate("cities/alone", "recall_at_1", 0.5, 0.02), Gate("cities/alone", "words", 40, 4)]
    path = tmp_path / "gates.toml"
    path.write_text(proposed(figures(recall_at_1=0.9124, words=45.0), gates))

    assert load(path) == [Gate("cities/alone", "recall_at_1", 0.912, 0.02), Gate("cities/alone", "words", 45, 4)]


@pytest.mark.parametrize("text", ["[", "['cities/alone']\nmrr = 3", "mrr = {}", "['a']\nmrr = {value = 1}"])
def test_a_file_that_holds_no_gates_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gates.toml"
    path.write_text(text)

    with pytest.raises(GateError, match=r"gates\.toml"):
        load(path)


def test_the_gates_of_the_project_are_gates() -> None:
    root = Path(__file__).resolve().parents[3]

    assert load(root / FILE)
