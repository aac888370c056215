"""Stored text and search text."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.text import is_well_formed, normalise, search_text

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
