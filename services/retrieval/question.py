"""The vector of a question of any allowed length, though the model reads 256 tokens at a time."""

import re
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from services.retrieval.model import Vector

_SPECIAL_TOKENS = 2
_WORD = re.compile(r"\S+\s*")


class Encoder(Protocol):
    """Embeds one text of bounded length."""

    @property
    def max_tokens(self) -> int:
        """Longest text in tokens, the model's special ones included."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of `text` without special ones."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a text that fits."""
        ...


class WindowedQueryEmbedder:
    """Embeds a long question as the mean of its windows, so that none of it is cut off in silence."""

    def __init__(self, encoder: Encoder) -> None:
        """Take the model."""
        self._encoder = encoder

    async def embed_query(self, text: str) -> Vector:
        """Return the vector, float32, of length 1."""
        most = self._encoder.max_tokens - _SPECIAL_TOKENS
        if self._encoder.count(text) <= most:
            return await self._encoder.embed_query(text)
        vectors = [await self._encoder.embed_query(window) for window in self._windows(text, most)]
        mean: Vector = np.stack(vectors).mean(axis=0, dtype=np.float32)
        return mean / np.float32(max(float(np.linalg.norm(mean)), 1e-12))

    def _windows(self, text: str, most: int) -> Iterator[str]:
        window, used = "", 0
        for piece in self._pieces(text, most):
            tokens = self._encoder.count(piece)
            if window and used + tokens > most:
                yield window
                window, used = "", 0
            window, used = window + piece, used + tokens
        if window.strip():
            yield window

    def _pieces(self, text: str, most: int) -> Iterator[str]:
        """Cut at white space; halve what is too long without any, as Chinese text is."""
        for word in _WORD.findall(text):
            yield from self._halved(word, most)

    def _halved(self, word: str, most: int) -> Iterator[str]:
        if self._encoder.count(word) <= most or len(word) == 1:
            yield word
            return
        middle = len(word) // 2
        yield from self._halved(word[:middle], most)
        yield from self._halved(word[middle:], most)
