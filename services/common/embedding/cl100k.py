"""OpenAI's tokenizer cl100k_base, which its embedding models use, without the download that tiktoken would make."""

import base64
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import tiktoken

from services.common.errors import FailedPreconditionError, Reason

_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""Digest of the ranks that tiktoken itself expects (`tiktoken_ext/openai_public.py`)."""
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""How the text is taken apart before its bytes are merged; from the same file."""
_MOST_REMEMBERED = 65_536
"""Words whose counts are remembered: the common ones of any language, in some ten megabytes."""
_LONGEST_REMEMBERED = 64
"""Characters; what is longer hardly comes twice."""


@cache
def encoding() -> tiktoken.Encoding:
    """Return the tokenizer; raise FailedPreconditionError when the package that carries its ranks is not as expected.

    Marks such as `<|endoftext|>` are text to it. It is loaded once a process, in half a second, and takes 60 MB.
    """
    lines = (line.split() for line in _ranks().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


class Cl100kWords:
    """Counts the tokens of search text word by word, each with the space before it; safe to call from many threads.

    Counts of texts joined by white space add up, as packing chunks needs it. The whole text has the same tokens but at
    the first word of a line and at the line's end, where it may be one more or less.
    """

    def __init__(self, max_tokens: int) -> None:
        """Load the tokenizer, and state how much the model takes."""
        self._encode = encoding().encode_ordinary
        self._known: dict[str, int] = {}
        self.max_tokens = max_tokens
        """Most tokens of a text."""

    def count(self, text: str) -> int:
        """Return the tokens of `text`."""
        known, total = self._known, 0
        for word in text.split():
            count = known.get(word)
            total += self._learned(word) if count is None else count
        return total

    def unknown_share(self, text: str) -> float:
        """Return 0: what is no word to this tokenizer is bytes, and those it knows."""
        return 0.0

    def _learned(self, word: str) -> int:
        count = len(self._encode(f" {word}"))
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known = {}
            self._known[word] = count
        return count


def _ranks() -> bytes:
    """Return the file with the ranks; the package that carries it is not imported."""
    found = find_spec("tiktoken_ext")
    for folder in (found and found.submodule_search_locations) or ():
        path = Path(folder) / "data" / "cl100k_base.tiktoken"
        if path.is_file():
            content = path.read_bytes()
            if sha256(content).hexdigest() == _SHA256:
                return content
    raise FailedPreconditionError(
        Reason.MODEL_UNAVAILABLE,
        "The ranks of the tokenizer cl100k_base are absent or not the expected ones; install the locked packages anew.",
    )
