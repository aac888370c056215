"""Tokens, counted word by word."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE

from services.common.embedding.files import model_in, packaged_minilm
from services.common.embedding.tokens import Tokens, loaded
from services.common.text import normalise, search_text

WHOLE = loaded(packaged_minilm().read_tokenizer(), "whole")
COUNTED = Tokens(packaged_minilm())

signs = st.sampled_from(
    "ab É ß Σς \u0301\u0308\u00ad\u200b\u200d-_'.,;!?…·、。漢字仮名ひらカナ한글ไทยعر\u202e😀#[]{}@x\n\t 19²"
)
any_text = st.one_of(st.text(signs), st.text(st.characters(exclude_categories=("Cs",))))


def whole(text: str) -> int:
    return len(WHOLE.encode(text, add_special_tokens=False).ids)


@settings(deadline=None, max_examples=300)
@given(st.lists(any_text, max_size=4))
def test_the_count_is_that_of_the_whole_text(texts: list[str]) -> None:
    """F87: a chunk that is counted too small would be refused by the model."""
    text = "\n".join(search_text(normalise(text)) for text in texts)

    assert COUNTED.count(text) == whole(text)


@pytest.mark.parametrize(
    "text", ["[SEP] [CLS] [MASK]", "x" * 5000, "漢" * 500, "a" * 99 + "-" + "b" * 101, "", "##ing"]
)
def test_odd_words_are_counted_as_the_model_does(text: str) -> None:
    assert COUNTED.count(text) == COUNTED.count(text) == whole(text)


def test_a_word_that_was_met_is_not_tokenized_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens(packaged_minilm())
    first = tokens.count("Returns are taken back within (thirty), days.")

    monkeypatch.setattr(tokens, "_tokenized", None)
    assert tokens.count("days. within thirty, taken are (Returns) back") == first


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.common.embedding.tokens._MOST_REMEMBERED", 10)
    tokens = Tokens(packaged_minilm())
    words = [f"word{number}" for number in range(50)]

    assert tokens.count(" ".join(words)) == whole(" ".join(words))
    assert len(tokens._known) <= 10


def test_another_kind_of_tokenizer_counts_texts_whole(tmp_path: Path) -> None:
    tokenizer = Tokenizer(BPE({"a": 0, " ": 1, "a ": 2, "a a": 3}, [("a", " "), ("a ", "a")]))
    tokenizer.save(str(tmp_path / "tokenizer.json"))

    assert Tokens(model_in(tmp_path, "mine", 256)).count("a a") == 1


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.0),
        (" \n", 0.0),
        ("The kettle is on the third floor.", 0.0),
        ("\u0e1b\u0e23\u0e30\u0e40\u0e17\u0e28\u0e44\u0e17\u0e22", 1.0),
        ("kettle \U0001f600", 1 / 7),
    ],
)
def test_the_share_that_the_model_cannot_read_is_told(text: str, share: float) -> None:
    assert COUNTED.unknown_share(text) == pytest.approx(share)
