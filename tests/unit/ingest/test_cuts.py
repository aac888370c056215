"""Where texts are cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.ingest import cuts


def parts(text: str, spans: object) -> list[str]:
    return [text[start:end] for start, end in spans]  # type: ignore[attr-defined]  # any of the span iterators


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("about 3.5 of it, e.g. this. Next", ["about 3.5 of it, e.g. this. ", "Next"]),
        ('He said "no." Then left.', ['He said "no." ', "Then left."]),
        ("\u4e00\u3002\u4e8c\uff01\u4e09", ["\u4e00\u3002", "\u4e8c\uff01", "\u4e09"]),
        ("كيف؟ نعم. تمام", ["كيف؟ ", "نعم. ", "تمام"]),
        ("none", ["none"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_pauses(text: str, expected: list[str]) -> None:
    assert parts(text, cuts.sentences(text, 0, len(text))) == expected


def test_lines_keep_their_ends() -> None:
    assert parts("a\n\nb", cuts.lines("a\n\nb", 0, 4)) == ["a\n", "\n", "b"]


def test_a_long_text_is_cut_between_words() -> None:
    text = "some words of a text"

    assert parts(text, cuts.fitting(text, 0, len(text), lambda start, end: end - start <= 8)) == [
        "some ",
        "words ",
        "of a ",
        "text",
    ]


def test_a_run_without_white_space_is_cut_between_characters() -> None:
    """F87: a long run without white space."""
    text = "x" * 20

    assert parts(text, cuts.fitting(text, 0, 20, lambda start, end: end - start <= 8)) == ["x" * 8, "x" * 8, "x" * 4]


def test_a_character_is_not_torn_from_its_marks() -> None:
    text = "ab\u0301\u0301cd"

    assert parts(text, cuts.fitting(text, 0, 6, lambda start, end: end - start <= 3))[0] == "a"


@settings(deadline=None)
@given(st.text(st.sampled_from("ab .\n\u3002\u0301\u200d!")), st.integers(0, 12))
def test_cutting_loses_and_repeats_nothing_and_ends(text: str, size: int) -> None:
    """F87: coverage and termination, also where nothing fits."""
    for spans in (
        cuts.lines(text, 0, len(text)),
        cuts.sentences(text, 0, len(text)),
        cuts.fitting(text, 0, len(text), lambda start, end: end - start <= size),
    ):
        cut = parts(text, spans)

        assert "".join(cut) == text
        assert all(cut)


@settings(deadline=None)
@given(st.text(st.sampled_from("ab \u0301"), min_size=1), st.integers(1, 12), st.sets(st.integers(0, 40)))
def test_every_piece_fits_or_is_one_character(text: str, size: int, holes: set[int]) -> None:
    """F87: also for a measure that does not grow evenly, as that of text with markup."""

    def fits(start: int, end: int) -> bool:
        return end - start <= size and end not in holes

    for start, end in cuts.fitting(text, 0, len(text), fits):
        assert fits(start, end) or end - start == 1


@pytest.mark.parametrize("unit", [".", ".*", '!"', "\n ", "…"])
def test_a_page_of_stops_is_read_in_one_pass(unit: str) -> None:
    """Read once per stop it would take minutes, and hold the interpreter for as long."""
    text = unit * 300_000

    assert sum(end - start for start, end in cuts.sentences(text, 0, len(text))) == len(text)
