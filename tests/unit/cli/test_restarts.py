"""A part is started again with growing pauses, and not for ever."""

from services.cli.stack.restarts import RestartLimits, RestartPolicy


def test_pauses_double_up_to_the_limit_of_restarts() -> None:
    policy = RestartPolicy()

    assert [policy.pause_after_end(now=10.0) for _ in range(6)] == [0.5, 1, 2, 4, 8, None]


def test_a_pause_is_never_longer_than_its_bound() -> None:
    policy = RestartPolicy(RestartLimits(most=9))

    assert [policy.pause_after_end(now=0.0) for _ in range(9)][-3:] == [30, 30, 30]


def test_restarts_of_long_ago_do_not_count() -> None:
    policy = RestartPolicy()
    for _ in range(5):
        policy.pause_after_end(now=0.0)

    assert policy.pause_after_end(now=299.9) is None
    assert policy.pause_after_end(now=300.0) == 0.5


def test_a_part_that_was_asked_for_begins_anew() -> None:
    policy = RestartPolicy()
    for _ in range(6):
        policy.pause_after_end(now=0.0)
    policy.forget()

    assert policy.pause_after_end(now=0.0) == 0.5
