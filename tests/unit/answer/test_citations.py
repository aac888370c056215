import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.citations import escape, render, resolve, take_markers
from services.answer.model import CheckedSentence, Verdict
from tests.fakes.answer import passage

SOURCES = {n: passage(f"Passage {n}.") for n in (1, 2, 3)}
TEXTS = st.text(st.sampled_from("ab [](),;-\\12\u0663\u2013."), min_size=1, max_size=30)
NUMBERS = st.lists(st.integers(1, 20), min_size=1, max_size=4, unique=True)


def sentence(text: str, *citations: int) -> CheckedSentence:
    return CheckedSentence(text, Verdict.QUOTED, citations, ())


def test_invented_numbers_are_removed() -> None:
    """F100."""
    assert resolve((3, 99, 0, -1, 1, 3), SOURCES) == (3, 1)


def test_each_sentence_is_followed_by_its_markers() -> None:
    assert render([sentence("One.", 1), sentence("Two.", 2, 3)]) == "One. [1] Two. [2][3]"


def test_bracketed_numbers_of_the_document_are_escaped() -> None:
    assert render([sentence("See [2] and [3, 4] or [a].", 1)]) == r"See \[2\] and \[3, 4\] or [a]. [1]"


@given(st.lists(st.tuples(TEXTS, NUMBERS), max_size=4))
def test_the_markers_that_a_reader_finds_are_the_citations(drafts: list[tuple[str, list[int]]]) -> None:
    answer = render(sentence(text, *numbers) for text, numbers in drafts)

    assert [int(n) for n in re.findall(r"\[(\d+)\]", answer)] == [n for _, numbers in drafts for n in numbers]


@pytest.mark.parametrize(
    ("written", "text", "numbers"),
    [
        ("You have 25 days. [1]", "You have 25 days.", (1,)),
        ("You have 25 days [1].", "You have 25 days.", (1,)),
        ("You have [1, 2] 25 days [3][1].", "You have 25 days.", (1, 2, 3)),
        (r"See \[2\]. [1]", "See [2].", (1,)),
        ("See [a] and [1.5].", "See [a] and [1.5].", ()),
        ("None", "None", ()),
    ],
)
def test_the_markers_of_a_written_sentence_are_taken_off(written: str, text: str, numbers: tuple[int, ...]) -> None:
    assert take_markers(written) == (text, numbers)


@given(st.text(st.sampled_from("ab [],12."), max_size=30).map(str.strip), NUMBERS)
def test_taking_markers_off_undoes_writing_them(text: str, numbers: list[int]) -> None:
    assert take_markers(render([sentence(text, *numbers)])) == (text, tuple(numbers))


@given(TEXTS)
def test_escaping_twice_is_escaping_once(text: str) -> None:
    assert escape(escape(text)) == escape(text)
