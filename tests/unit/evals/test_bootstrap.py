import pytest

from evals.bootstrap import mean


def test_no_value_has_no_mean() -> None:
    assert mean([], []) is None


def test_the_interval_holds_the_mean_and_narrows_with_more_clusters() -> None:
    few = mean([0.0, 1.0] * 5, [str(at) for at in range(10)])
    many = mean([0.0, 1.0] * 500, [str(at) for at in range(1000)])

    assert few is not None
    assert many is not None
    assert few.low < few.value < few.high
    assert many.high - many.low < few.high - few.low


def test_questions_of_one_cluster_are_drawn_together() -> None:
    """Twenty questions that share the luck of two articles tell little more than two questions."""
    values = [1.0] * 10 + [0.0] * 10
    by_article = mean(values, ["a"] * 10 + ["b"] * 10)
    by_question = mean(values, [str(at) for at in range(20)])

    assert by_article is not None
    assert by_question is not None
    assert (by_article.low, by_article.high) == (0.0, 1.0)
    assert by_question.low > 0.2


def test_clusters_of_unequal_size_weigh_by_their_questions() -> None:
    found = mean([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"])

    assert found is not None
    assert (found.value, found.n, found.clusters) == (pytest.approx(0.75), 4, 2)


def test_the_same_values_give_the_same_interval() -> None:
    values, clusters = [0.0, 1.0, 1.0, 0.5], ["a", "b", "c", "d"]

    assert mean(values, clusters) == mean(values, clusters)


def test_the_interval_of_independent_values_is_that_of_the_normal_law() -> None:
    """1.96 standard errors either way, for a thousand coins."""
    found = mean([float(at % 2) for at in range(1000)], [str(at) for at in range(1000)])

    assert found is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / 1000**0.5, rel=0.1)
