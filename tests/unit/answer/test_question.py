import math

import pytest

from services.answer.question import DEFAULT_TOP_K, MAX_CHARS, Question, RawQuestion
from services.common.errors import DomainError, InvalidArgumentError, Reason, UnimplementedError


def refused(raw: RawQuestion) -> DomainError:
    with pytest.raises(InvalidArgumentError) as caught:
        Question.parse(raw)
    return caught.value


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000", "\u200b", " \ufeff\u00ad "])
def test_a_question_without_a_visible_character_is_blank(text: str) -> None:
    assert refused(RawQuestion(text)).reason is Reason.QUESTION_BLANK


@pytest.mark.parametrize("text", ["caf\x00e", "caf\ud800e", "\x00"])
def test_nul_and_lone_surrogates_are_malformed(text: str) -> None:
    assert refused(RawQuestion(text)).reason is Reason.TEXT_MALFORMED


def test_the_length_is_counted_in_code_points_after_trimming() -> None:
    text = "\U0001f600" * MAX_CHARS

    assert Question.parse(RawQuestion(f"  {text}\n")).text == text
    error = refused(RawQuestion(text + "?"))
    assert error.reason is Reason.QUESTION_TOO_LONG
    assert error.metadata == {"field": "question", "length": "4001", "maxLength": "4000"}


@pytest.mark.parametrize("top_k", [0, -1, 21, 2**31 - 1, -(2**31)])
def test_top_k_outside_its_bounds_is_refused(top_k: int) -> None:
    """F53."""
    assert refused(RawQuestion("Leave?", top_k=top_k)).reason is Reason.FIELD_OUT_OF_RANGE


@pytest.mark.parametrize(("top_k", "expected"), [(None, DEFAULT_TOP_K), (1, 1), (20, 20)])
def test_top_k_within_its_bounds_is_kept(top_k: int | None, expected: int) -> None:
    assert Question.parse(RawQuestion("Leave?", top_k=top_k)).top_k == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.0000001, -1.5])
def test_a_similarity_that_no_cosine_can_have_is_refused(value: float) -> None:
    """F53."""
    assert refused(RawQuestion("Leave?", min_similarity=value)).reason is Reason.FIELD_OUT_OF_RANGE


@pytest.mark.parametrize("value", [None, 0.0, -1.0, 1.0, 0.25])
def test_a_similarity_is_passed_on_as_given_and_absent_when_absent(value: float | None) -> None:
    """F53."""
    assert Question.parse(RawQuestion("Leave?", min_similarity=value)).min_similarity == value


@pytest.mark.parametrize("lane", ["", "HR", "a b", "a/b", "x" * 65, "h\u00e9", "hr\n"])
def test_a_name_that_no_lane_can_have_is_refused(lane: str) -> None:
    assert refused(RawQuestion("Leave?", lanes=(lane,))).reason is Reason.FIELD_INVALID


def test_thirty_two_lanes_are_taken_and_one_more_is_not() -> None:
    lanes = tuple(f"lane-{i}" for i in range(33))

    assert Question.parse(RawQuestion("Leave?", lanes=lanes[:32])).lanes == lanes[:32]
    assert refused(RawQuestion("Leave?", lanes=lanes)).reason is Reason.FIELD_OUT_OF_RANGE


def test_a_lane_named_twice_is_searched_once() -> None:
    assert Question.parse(RawQuestion("Leave?", lanes=("b", "a", "b"))).lanes == ("b", "a")


def test_a_conversation_is_not_served() -> None:
    with pytest.raises(UnimplementedError) as caught:
        Question.parse(RawQuestion("Leave?", turns=1))

    assert caught.value.reason is Reason.NOT_IMPLEMENTED


@pytest.mark.parametrize(
    "raw",
    [
        RawQuestion("xylophonic\x00"),
        RawQuestion("xylophonic" * 500),
        RawQuestion("xylophonic", lanes=("xylophonic!",)),
        RawQuestion("xylophonic", top_k=0),
    ],
)
def test_no_refusal_quotes_what_was_sent(raw: RawQuestion) -> None:
    error = refused(raw)

    assert "xylophonic" not in error.message + repr(error.metadata)
