import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.model import DraftSentence, SupportSpan, Verdict
from services.answer.verify import collapse, find_verbatim, released, verify
from tests.fakes.answer import passage

LEAVE = "# Leave\n\nEverybody has\n  25 days\u00a0of leave. Unused days expire."


def test_a_quote_is_found_with_its_span_whatever_the_white_space() -> None:
    [checked] = verify([DraftSentence("Everybody has 25 days of leave.", (1,))], {1: passage(LEAVE)})

    assert checked.verdict is Verdict.QUOTED
    [span] = checked.support
    assert LEAVE[span.char_start : span.char_end] == "Everybody has\n  25 days\u00a0of leave."


def test_a_changed_word_is_unsupported_and_not_released() -> None:
    checked = verify([DraftSentence("Everybody has 26 days of leave.", (1,))], {1: passage(LEAVE)})

    assert [(c.verdict, c.citations, c.support) for c in checked] == [(Verdict.UNSUPPORTED, (), ())]
    assert released(checked) == ()


def test_a_quote_of_a_passage_that_is_not_cited_is_unsupported() -> None:
    sources = {1: passage("Something else."), 2: passage(LEAVE)}

    assert verify([DraftSentence("Unused days expire.", (1,))], sources)[0].verdict is Verdict.UNSUPPORTED


def test_only_the_passages_that_hold_the_quote_stay_cited() -> None:
    sources = {1: passage("Something else."), 2: passage(LEAVE)}

    [checked] = verify([DraftSentence("Unused days expire.", (2, 1, 99))], sources)

    assert checked.citations == (2,)


def test_offsets_count_code_points() -> None:
    content = "\U0001f600\U0001f600 Smile often."

    [checked] = verify([DraftSentence("Smile often.", (1,))], {1: passage(content)})

    assert checked.support == (SupportSpan(1, 3, 15),)


@pytest.mark.parametrize(
    ("sentence", "content"),
    [
        ("allowed", "This is disallowed"),
        ("allow", "This is allowed"),
        ("5 days", "after 25 days"),
        ("5 days", "after 2.5 days"),
        ("5 degrees", "at -5 degrees"),
        ("at most 10", "at most 10.5"),
        ("at most 10", "at most 10,000"),
        ("", "anything"),
        ("  ", "any thing"),
    ],
)
def test_a_piece_of_a_word_or_number_is_no_quote(sentence: str, content: str) -> None:
    assert find_verbatim(sentence, content) is None


def test_a_whole_occurrence_behind_a_piece_is_found() -> None:
    assert find_verbatim("5 days", "25 days or 5 days") == (11, 17)


def test_a_number_before_a_full_stop_is_whole() -> None:
    assert find_verbatim("at most 10", "at most 10. More") == (0, 10)


@given(st.text(st.sampled_from("ab1. \n\t\u00a0\u2003-"), max_size=40), st.data())
def test_what_is_found_reads_as_the_sentence(content: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(content)))
    sentence = content[start : data.draw(st.integers(start, len(content)))]

    span = find_verbatim(sentence, content)

    assert span is None or collapse(content[slice(*span)]) == collapse(sentence)
