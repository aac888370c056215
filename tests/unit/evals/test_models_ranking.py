"""How models are compared: ranks, fusion, and what chance has to do with a difference."""

import numpy as np
import pytest

from evals.models.passages import PassageSet, Question
from evals.models.ranking import by_sentence, by_words, difference, fused, measures, ranks, sign_test


def _questions(*gold: int) -> list[Question]:
    return [Question("q", frozenset({number}), f"document {number}") for number in gold]


def test_a_passage_scores_as_its_nearest_sentence() -> None:
    sentences = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)

    found = by_sentence(sentences, np.array([0, 0, 1]), np.array([[1, 0], [0, 1]], np.float32), 2)

    np.testing.assert_allclose(found, [[1, 0.6], [1, 0.8]])


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    found = by_words(["the kettle", "the desk", "the door"], ["the kettle", "nothing"])

    assert found[0].argmax() == 0
    assert found[0][1] > 0
    assert not found[1].any()


def test_the_rank_is_that_of_the_best_gold_passage_and_ties_count_against_it() -> None:
    scores = np.array([[0.9, 0.8, 0.8, 0.1]], np.float32)

    assert ranks(scores, _questions(0)).tolist() == [1]
    assert ranks(scores, _questions(1)).tolist() == [3]
    assert ranks(scores, [Question("q", frozenset({0, 3}), "d")]).tolist() == [1]


def test_legs_of_other_scales_weigh_the_same() -> None:
    first, second = np.array([[1, 0, 0]], np.float32), np.array([[0, 0, 50]], np.float32)

    found = fused(first, second)

    assert found[0][0] == pytest.approx(found[0][2])


def test_measures_are_those_of_the_ranks() -> None:
    found = measures(np.array([1, 2, 6, 10]))

    assert found == pytest.approx({"R@1": 0.25, "R@5": 0.5, "MRR": (1 + 1 / 2 + 1 / 6 + 1 / 10) / 4})


@pytest.mark.parametrize(("won", "lost", "p"), [(0, 0, 1.0), (3, 3, 1.0), (0, 6, 2 / 64), (1, 9, 22 / 1024)])
def test_the_sign_test_is_exact(won: int, lost: int, p: float) -> None:
    assert sign_test(won, lost) == pytest.approx(p)


def test_a_difference_tells_who_won_and_how_sure_that_is() -> None:
    cut = PassageSet("s", [], [], _questions(0, 1, 2, 3), 0)

    found = difference(np.array([1, 1, 1, 2]), np.array([1, 2, 2, 1]), cut)

    assert (found.mean, found.won, found.lost) == (0.25, 2, 1)
    assert found.low < 0 < found.high


def test_questions_of_one_document_are_drawn_together() -> None:
    one = [Question("q", frozenset({number}), "the same") for number in range(4)]

    found = difference(np.array([1, 1, 1, 2]), np.array([1, 2, 2, 1]), PassageSet("s", [], [], one, 0))

    assert found.low == found.high == 0.25
