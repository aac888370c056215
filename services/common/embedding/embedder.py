"""Vectors for services: the encoder behind a bounded pool of threads, so that the event loop never waits for it."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from types import TracebackType
from typing import Self, TypeAlias, TypeVar

from services.common.embedding.encoder import Encoder
from services.common.embedding.files import ModelFiles
from services.common.embedding.precision import Precision
from services.common.embedding.sentence_vectors import Span, pack
from services.common.errors import Reason, ResourceExhaustedError
from services.common.vectors import EmbeddedVector, Vector

_BATCH = 32

_log = logging.getLogger(__name__)

A = TypeVar("A")
T = TypeVar("T")

_Passage: TypeAlias = tuple[str, Sequence[Span] | None]
"""A text, and the spans of its sentences where their vectors are wanted."""


class OnnxEmbedder:
    """Embeds one text at a time per thread; keeps, writes and logs nothing of what it is given.

    Use as `async with OnnxEmbedder(files) as embedder`: the model is loaded on entry. Texts of `embed` queue outside
    the pool, so that a question waits behind `threads` of them at most. A cancelled call leaves the queue at once.
    """

    def __init__(
        self, files: ModelFiles, *, precision: Precision = Precision.EXACT, threads: int = 1, max_calls: int = 64
    ) -> None:
        """Set the threads that compute, and the calls that may be under way before more are refused."""
        self._files = files
        self._precision = precision
        self._threads = threads
        self._max_calls = max_calls
        self._calls = 0
        self._bulk = asyncio.Semaphore(threads)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        self._encoder: Encoder | None = None

    async def __aenter__(self) -> Self:
        """Load the model; raise FailedPreconditionError when that cannot be done."""
        try:
            self._encoder = await self._run(partial(Encoder, self._files), self._precision)
        except BaseException:
            await self._close()
            raise
        _log.info("embedding model loaded", extra={"fields": {"model": self.model_name, "precision": self._precision}})
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drop what waits, let what runs finish, and free the threads."""
        await self._close()

    @property
    def model_name(self) -> str:
        """Name of the model, as its embedding space bears it."""
        return self._files.name

    @property
    def precision(self) -> Precision:
        """Arithmetic of the model, which is not part of its name: vectors of both may lie in one space."""
        return self._precision

    @property
    def max_tokens(self) -> int:
        """Longest text in tokens, the model's special ones included."""
        return self._files.max_tokens

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self._loaded.dimensions

    @property
    def batch(self) -> int:
        """Texts that a call should hold: a second or two of work."""
        return _BATCH

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the model's special ones, on the calling thread."""
        return self._loaded.count(text)

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; raise as `embed` does."""
        with self._admitted():
            return await self._run(self._loaded.embed, text)

    async def embed(
        self, texts: Sequence[str], sentences: Sequence[Sequence[Span]] | None = None
    ) -> list[EmbeddedVector]:
        """Return one embedding per text, in order; with `sentences`, spans for each text, their packed vectors too.

        Raises InvalidArgumentError with TEXT_MALFORMED or TEXT_TOO_LONG_FOR_MODEL, and ResourceExhaustedError with
        SERVICE_BUSY when too many calls are under way.
        """
        with self._admitted():
            found: dict[int, EmbeddedVector] = {}
            waiting = iter(enumerate(zip(texts, sentences or repeat(None, len(texts)), strict=True)))
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self._threads, len(texts))):
                        group.create_task(self._embed_each(waiting, found))
            except ExceptionGroup as failures:
                raise failures.exceptions[0] from None
            return [found[index] for index in range(len(texts))]

    async def _embed_each(self, waiting: Iterator[tuple[int, _Passage]], found: dict[int, EmbeddedVector]) -> None:
        """Embed what others left of `waiting`; calls take turns text by text, since the semaphore is fair."""
        embed = partial(_embedded, self._loaded)
        for index, passage in waiting:
            async with self._bulk:
                found[index] = await self._run(embed, passage)

    @property
    def _loaded(self) -> Encoder:
        if self._encoder is None:
            raise RuntimeError("the embedder is used outside its `async with`")
        return self._encoder

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        if self._calls >= self._max_calls:
            raise ResourceExhaustedError(Reason.SERVICE_BUSY, "Too many texts wait to be embedded; try again.")
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    async def _run(self, function: Callable[[A], T], argument: A) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, argument)

    async def _close(self) -> None:
        self._encoder = None
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)


def _embedded(encoder: Encoder, passage: _Passage) -> EmbeddedVector:
    text, spans = passage
    if spans is None:
        return EmbeddedVector(encoder.embed(text), None)
    vector, rows = encoder.embed_with_sentences(text, spans)
    return EmbeddedVector(vector, pack(spans, rows))
