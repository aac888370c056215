"""What the bench says of its times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.statistics import noise, summaries

times = st.lists(st.floats(0.01, 1e4), min_size=2, max_size=30)


@given(times)
def test_the_floor_is_one_by_itself_in_every_round(floor: list[float]) -> None:
    found = summaries({"floor": floor}, "floor")["floor"]

    assert (found.ratio_low, found.ratio, found.ratio_high) == (1, 1, 1)


@given(times, st.floats(1.5, 10))
def test_a_ratio_does_not_see_how_busy_the_rounds_were(floor: list[float], factor: float) -> None:
    found = summaries({"floor": floor, "way": [factor * each for each in floor]}, "floor")["way"]

    assert found.ratio == pytest.approx(factor)
    assert found.ratio_high - found.ratio_low == pytest.approx(0, abs=1e-6)


def test_median_spread_and_tail_are_those_of_the_times() -> None:
    found = summaries({"way": [1.0, 2.0, 3.0, 4.0, 100.0]}, "way")["way"]

    assert (found.count, found.median) == (5, 3)
    assert found.spread == pytest.approx(2 / 3)
    assert found.p95 > 80


@pytest.mark.parametrize("other", [[1.0], [1.0, 2.0, 3.0], [1.0, 0.0]])
def test_ways_with_other_rounds_or_no_time_are_refused(other: list[float]) -> None:
    with pytest.raises(ValueError, match="one time above 0"):
        summaries({"floor": [1.0, 2.0], "way": other}, "floor")


def test_a_single_round_is_refused() -> None:
    with pytest.raises(ValueError, match="two rounds"):
        summaries({"floor": [1.0]}, "floor")


def test_a_quiet_machine_gets_no_word() -> None:
    found = summaries({"floor": [1.0, 1.01, 1.02], "way": [1.0, 5.0, 9.0]}, "floor")

    assert noise(found, [0.2, 0.9]) == ""


def test_times_that_all_spread_are_called_noisy() -> None:
    found = summaries({"floor": [1.0, 5.0, 9.0], "way": [2.0, 9.0, 20.0]}, "floor")

    assert noise(found, []) == "even the steadiest times spread by 80%"


def test_load_at_either_end_of_the_run_is_called_noisy() -> None:
    found = summaries({"floor": [1.0, 1.0]}, "floor")

    assert noise(found, [0.1, 2.5]) == "the load was 2.5 a core"
