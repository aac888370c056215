"""Stored text and search text."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.text import is_blank, is_well_formed, label, normalise, search_text

any_text = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize("text", ["caf\x00e", "\ud800", "a\udfffb"])
def test_a_nul_or_a_lone_surrogate_is_malformed(text: str) -> None:
    assert not is_well_formed(text)


def test_an_astral_character_is_well_formed() -> None:
    assert is_well_formed("ordinary, \U0001f600, \t and \n")


@settings(deadline=None)
@given(any_text)
def test_well_formed_text_is_what_utf_8_and_postgres_hold(text: str) -> None:
    try:
        encodable = "\0" not in text and bool(text.encode() or True)
    except UnicodeEncodeError:
        encodable = False

    assert is_well_formed(text) == encodable


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("\ufefftitle", "title"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a\fb\vc\x85d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"),
        ("a\x00\x01\x1b\x7f\x9fb\tc", "ab\tc"),
        ("e\u0301", "\u00e9"),
        ("e\x00\u0301", "\u00e9"),
        ("10\u00b2 \ufb01le", "10\u00b2 \ufb01le"),
    ],
)
def test_stored_text_has_one_form(raw: str, stored: str) -> None:
    """F29: NUL and lone surrogates never reach the database."""
    assert normalise(raw) == stored


@settings(deadline=None)
@given(any_text)
def test_stored_text_is_well_formed_and_stable(text: str) -> None:
    stored = normalise(text)

    assert is_well_formed(stored)
    assert normalise(stored) == stored
    assert unicodedata.is_normalized("NFC", stored)
    assert not any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in stored)


@pytest.mark.parametrize(
    ("stored", "searched"),
    [
        ("the \ufb01le", "the file"),
        ("infor\u00admation", "information"),
        ("infor\u00ad\n  mation", "information"),
        ("infor-\nmation", "information"),
        ("infor\u2010\n  mation", "information"),
        ("Rhine-\nMain", "Rhine-Main"),
        ("10-\n20", "10- 20"),
        ("a - b\n- c", "a - b - c"),
        ("a\u00a0 \n\t b ", "a b"),
        ("10\u00b2", "102"),
    ],
)
def test_search_text_finds_words_by_plain_letters(stored: str, searched: str) -> None:
    """F91: ligatures, soft hyphens and line hyphens do not hide a word."""
    assert search_text(stored) == searched


@settings(deadline=None)
@given(any_text)
def test_search_text_has_single_inner_spaces_only(text: str) -> None:
    searched = search_text(text)

    assert searched == " ".join(searched.split())


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\u202e\u2066\u200f", "\x07\x00", "\ufeff"])
def test_what_cannot_be_seen_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["?", "\U00018cd6", "\ue000", "\u200ba", "\u0301", "\U0001f600", "\u0645"])
def test_what_can_be_seen_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  Annual\treport\n2026 ", "Annual report 2026"),
        ("bell \x07 and \x1b[31mred", "bell and [31mred"),
        ("exe.\u202etxt.pdf", "exe.txt.pdf"),
        ("\u2067\u05e9\u05dc\u05d5\u05dd\u2069", "\u05e9\u05dc\u05d5\u05dd"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        ("\u200b \u2060", ""),
    ],
)
def test_a_label_is_one_line_that_turns_nothing(text: str, shown: str) -> None:
    assert label(text) == shown
