"""The tokenizer of an embedding model, also without the model: to count is cheap, to load the model is not."""

import re

from tokenizers import Tokenizer
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from services.common.embedding.files import ModelFiles
from services.common.errors import FailedPreconditionError, Reason

_PART = re.compile(r"[!-/:-@\[-`{-~\u4e00-\u9fff]|[^!-/:-@\[-`{-~\u4e00-\u9fff]+")
"""What BERT's tokenizer takes apart before it looks at letters: ASCII punctuation and ideographs stand alone."""
_MOST_REMEMBERED = 65_536
"""Words and parts whose counts are remembered: the common ones of any language, in some ten megabytes."""
_LONGEST_REMEMBERED = 64
"""Characters; what is longer hardly comes twice."""


class Tokens:
    """Counts tokens as the model does; safe to call from many threads.

    A text is counted word by word where the tokenizer works so, since the same words come again and again: most of them
    are looked up, ten times as fast as they are tokenized.
    """

    def __init__(self, files: ModelFiles) -> None:
        """Load the tokenizer; raise FailedPreconditionError when its file is absent, wrong or no tokenizer."""
        self._tokenizer = loaded(files.read_tokenizer(), files.name)
        self.max_tokens: int = files.max_tokens - self._tokenizer.num_special_tokens_to_add(is_pair=False)
        """Most tokens that the model takes beside its special ones."""
        self._by_words = _takes_words_apart(self._tokenizer)
        self._known: dict[str, int] = {}
        self._unknown: int | None = self._tokenizer.token_to_id("[UNK]")

    def count(self, text: str) -> int:
        """Return the tokens of search text, or of lines of it, without the model's special ones."""
        if not self._by_words:
            return self._tokenized(text)
        known, total = self._known, 0
        for word in text.split():
            count = known.get(word)
            total += self._learned(word) if count is None else count
        return total

    def unknown_share(self, text: str) -> float:
        """Return the share of the text's signs, white space aside, that the model reads as an unknown word; 0 to 1."""
        signs = sum(not sign.isspace() for sign in text)
        if self._unknown is None or not signs:
            return 0.0
        read = self._tokenizer.encode(text, add_special_tokens=False)
        unknown = (
            end - start for id_, (start, end) in zip(read.ids, read.offsets, strict=True) if id_ == self._unknown
        )
        return min(1.0, sum(unknown) / signs)

    def _learned(self, word: str) -> int:
        known, total = self._known, 0
        for part in _PART.findall(word):
            count = known.get(part)
            if count is None:
                count = self._tokenized(part)
                self._remember(part, count)
            total += count
        self._remember(word, total)
        return total

    def _remember(self, word: str, count: int) -> None:
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known = {}
            self._known[word] = count

    def _tokenized(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))


def _takes_words_apart(tokenizer: Tokenizer) -> bool:
    normalizer = tokenizer.normalizer
    return (
        isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and isinstance(normalizer, BertNormalizer)
        and bool(normalizer.handle_chinese_chars)
    )


def loaded(content: bytes, name: str) -> Tokenizer:
    """Return the tokenizer of the model `name`: it cuts nothing, fills nothing, and takes marks in a text as text."""
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except ValueError as error:
        raise not_a_model(name, "tokenizer.json") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a document is text, not a separator
    return tokenizer


def not_a_model(name: str, file: str) -> FailedPreconditionError:
    """Make the error for a file that is there and not what it must be."""
    return FailedPreconditionError(
        Reason.MODEL_UNAVAILABLE,
        f"The embedding model {name} cannot be loaded: its {file} is not that of a sentence model.",
    )
