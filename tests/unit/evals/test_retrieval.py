import math

import pytest

from evals.retrieval import measure


def test_the_gold_document_in_second_place() -> None:
    found = measure(["gold"], ["other", "gold", "third"])

    assert found["recall_at_1"] == 0.0
    assert found["recall_at_5"] == 1.0
    assert found["mrr"] == pytest.approx(0.5)
    assert found["ndcg_at_10"] == pytest.approx(1 / math.log2(3), abs=1e-4)


def test_one_of_two_gold_documents_is_half_of_the_recall() -> None:
    assert measure(["a", "b"], ["a", "x"])["recall_at_10"] == pytest.approx(0.5)


def test_the_order_given_is_the_order_measured_whatever_the_names() -> None:
    """trec_eval breaks ties by name; there must be none."""
    assert measure(["a"], ["z", "y", "a"])["mrr"] == pytest.approx(1 / 3)
    assert measure(["z"], ["a", "b", "z"])["mrr"] == pytest.approx(1 / 3)


def test_nothing_found_is_nothing_everywhere() -> None:
    assert set(measure(["a"], []).values()) == {0.0}
