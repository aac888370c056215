from pathlib import Path

import pytest

from evals.leaving_out import Trap, limited, make, steps
from evals.outcome import Kind
from evals.questions import DataError, load
from tests.unit.evals.made import DOCUMENTS, QUERIES, write_set


def trap(*leave_out: str, kind: Kind = Kind.NEAR, qid: str = "q1") -> Trap:
    return Trap(qid, kind, "?", frozenset(leave_out))


def away_when_asked(traps: list[Trap]) -> dict[Trap, frozenset[str]]:
    away: frozenset[str] = frozenset()
    found: dict[Trap, frozenset[str]] = {}
    for step in steps(traps):
        assert step.take_out.isdisjoint(away)
        assert step.put_back <= away
        away = (away - step.put_back) | step.take_out
        found |= dict.fromkeys(step.ask, away)
    assert away == frozenset()
    return found


def test_each_twin_is_asked_while_exactly_its_documents_are_away() -> None:
    traps = [trap("a"), trap("b"), trap("a", "b", kind=Kind.OFF), trap(kind=Kind.SWAP), trap("c")]

    assert away_when_asked(traps) == {one: one.leave_out for one in traps}


def test_twins_with_the_same_documents_are_asked_in_one_step() -> None:
    assert [len(step.ask) for step in steps([trap("a"), trap("b"), trap("a", qid="q2")])] == [2, 1, 0]


def test_without_twins_nothing_moves() -> None:
    assert list(steps([])) == []


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "traps.py"
    path.write_text(text)
    return path


SAID = """
import json
for kind, out in (("off", ["b1", "b2", "elsewhere"]), ("near", ["b1"]), ("swap", [])):
    print(json.dumps({"qid": "q1", "kind": kind, "question": "?", "leave_out": out}))
print(json.dumps({"qid": "unknown", "kind": "near", "question": "?", "leave_out": ["p1"]}))
"""


def test_the_script_makes_the_twins_of_the_sets_own_questions(tmp_path: Path) -> None:
    cities = load(write_set(tmp_path / "cities", DOCUMENTS, QUERIES))
    found = make(script(tmp_path, SAID), cities, {Kind.OFF, Kind.NEAR})

    assert found == [trap("b1", "b2", kind=Kind.OFF), trap("b1")]


def test_a_script_that_fails_is_told(tmp_path: Path) -> None:
    cities = load(write_set(tmp_path / "cities", DOCUMENTS, QUERIES))

    with pytest.raises(DataError, match="ZeroDivisionError"):
        make(script(tmp_path, "1/0"), cities, {Kind.OFF})


def test_a_limit_takes_whole_titles_first_and_counts_by_kind(tmp_path: Path) -> None:
    more = [{**QUERIES[0], "qid": f"b{at}"} for at in range(3)]
    cities = load(write_set(tmp_path / "cities", DOCUMENTS, [*QUERIES, *more]))
    traps = [trap("b1", qid="b0"), trap("p1", qid="q2"), trap("b1", qid="b1"), trap("b1", qid="b2", kind=Kind.OFF)]
    found = limited(traps, 2, cities)

    assert sum(one.kind is Kind.NEAR for one in found) == 2
    assert traps[3] in found
    assert limited(traps, None, cities) is not traps
    assert sorted(map(repr, limited(traps, None, cities))) == sorted(map(repr, traps))
