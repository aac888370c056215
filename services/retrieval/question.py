"""The vector of a question of any allowed length, though the model reads 256 tokens at a time."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from services.common.errors import Reason, ResourceExhaustedError
from services.retrieval.model import Vector

MOST_WINDOWS = 64
"""Windows of all questions that may wait for the model: two to three seconds of a core."""
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
    """Embeds a long question as the mean of its windows, so that none of it is cut off in silence.

    A question weighs what it costs: many long ones are refused at once rather than left to run out of time.
    """

    def __init__(self, encoder: Encoder, most_windows: int = MOST_WINDOWS) -> None:
        """Take the model, and how many windows of all questions may wait for it."""
        self._encoder = encoder
        self._most_windows = most_windows
        self._waiting = 0

    async def embed_query(self, text: str) -> Vector:
        """Return the vector, float32, of length 1; raise ResourceExhaustedError with SERVICE_BUSY."""
        windows = await self._cut(text)
        with self._admitted(len(windows)):
            vectors = [await self._encoder.embed_query(window) for window in windows]
        if len(vectors) == 1:
            return vectors[0]
        mean: Vector = np.stack(vectors).mean(axis=0, dtype=np.float32)
        return mean / np.float32(max(float(np.linalg.norm(mean)), 1e-12))

    async def _cut(self, text: str) -> list[str]:
        most = self._encoder.max_tokens - _SPECIAL_TOKENS
        if len(text) <= most:  # no token is shorter than a character
            return [text]
        return await asyncio.to_thread(lambda: self._fitting(text, most))

    def _fitting(self, text: str, most: int) -> list[str]:
        return [text] if self._encoder.count(text) <= most else list(self._windows(text, most))

    @contextmanager
    def _admitted(self, windows: int) -> Iterator[None]:
        if self._waiting and self._waiting + windows > self._most_windows:
            raise ResourceExhaustedError(Reason.SERVICE_BUSY, "Too many questions wait to be embedded; try again.")
        self._waiting += windows
        try:
            yield
        finally:
            self._waiting -= windows

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
