import pytest

from evals.figures import figures
from evals.outcome import Kind
from evals.proxy import discrimination
from tests.unit.evals.made import asked


def value(name: str, *rows: object) -> float:
    return figures(rows)[name].value  # type: ignore[arg-type]  # rows of `asked`


def test_an_answer_withheld_counts_against_all_and_not_against_the_answered() -> None:
    rows = [asked(), asked(qid="q2", outcome="NO_EVIDENCE", answer="")]

    assert value("answered", *rows) == 0.5
    assert value("gold_contained", *rows) == 0.5
    assert value("gold_contained_of_answered", *rows) == 1.0


def test_prose_answers_are_compared_by_overlap_and_never_by_containing() -> None:
    found = figures([asked(is_long=True)])

    assert "gold_contained" not in found
    # "berlin lies on spree" against "spree": precision 1/4, recall 1
    assert found["overlap_f1"].value == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Kind.UNANSWERABLE, "false_unanswerable"),
        (Kind.OFF, "false_off"),
        (Kind.NEAR, "false_near"),
        (Kind.SWAP, "false_swap"),
    ],
)
def test_a_false_answer_counts_for_its_kind_alone(kind: Kind, name: str) -> None:
    rows = [asked(), asked(kind), asked(kind, outcome="NO_EVIDENCE")]
    found = figures(rows)

    assert found[name].value == 0.5
    assert [other for other in found if other.startswith("false_") and "with_gold" not in other] == [name]


def test_a_near_answer_that_holds_the_gold_all_the_same_is_told_apart() -> None:
    rows = [asked(Kind.NEAR, golds=("Spree",)), asked(Kind.NEAR, golds=("Elbe",))]

    assert value("false_near_with_gold", *rows) == 0.5


def test_a_fault_in_any_answer_counts_against_the_citations() -> None:
    rows = [asked(), asked(Kind.OFF, citation_faults=("support-not-verbatim",))]

    assert value("citations_valid", *rows) == 0.5


def test_an_answer_withheld_has_no_citations_to_be_valid() -> None:
    assert "citations_valid" not in figures([asked(outcome="NO_EVIDENCE")])


def test_the_filter_is_judged_by_its_own_ranking() -> None:
    rows = [asked(ranked=(), ranked_unfiltered=("berlin",))]

    assert value("recall_at_1", *rows) == 0.0
    assert value("recall_at_1_unfiltered", *rows) == 1.0


def test_a_call_that_failed_is_counted() -> None:
    assert value("failed", asked(), asked(outcome="FAILED", error="UNAVAILABLE")) == 0.5


def test_the_proxy_tells_own_gold_from_others() -> None:
    rows = [
        asked(qid=str(at), is_long=True, golds=(f"word{at} rest",), answer=f"word{at} and more") for at in range(25)
    ]

    assert discrimination(rows) == 1.0


def test_a_proxy_that_sees_no_difference_is_a_coin() -> None:
    rows = [asked(qid=str(at), is_long=True, golds=(f"word{at}",), answer="nothing alike") for at in range(25)]

    assert discrimination(rows) == 0.5


def test_few_answers_say_nothing_about_the_proxy() -> None:
    assert discrimination([asked(is_long=True)] * 5) is None
