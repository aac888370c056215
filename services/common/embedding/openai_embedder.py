"""Vectors for services from a hosted model, behind the same port as the model that runs in the process."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from services.common.embedding.counters import WholeTokens
from services.common.embedding.openai_batches import batches
from services.common.embedding.openai_model import Endpoint, HostedModel, RequestLimits
from services.common.embedding.openai_requests import OpenAiRequests
from services.common.embedding.patience import Patience
from services.common.embedding.sentence_vectors import Span
from services.common.errors import InvalidArgumentError, Reason, ResourceExhaustedError
from services.common.text import is_well_formed
from services.common.vectors import EmbeddedVector, Vector

_INPUTS = 64
"""Texts that a request should hold: the way there and back is shared by them, and the reply is read in milliseconds."""
_FEWEST_INPUTS = 16
"""Texts for which another request is not worth its way."""
_CHARACTERS_PER_TOKEN = 128
"""Longest token of cl100k_base: what has more characters than that for each token need not be counted."""


class OpenAiEmbedder:
    """Embeds through an OpenAI-compatible endpoint; keeps, writes and logs nothing of what it is given.

    Use as `async with OpenAiEmbedder(…) as embedder`. A text is checked and counted before anything is asked, and a
    request holds texts of one call only, so that a bad text fails its own document alone (F68, F69).
    """

    def __init__(
        self,
        model: HostedModel,
        endpoint: Endpoint,
        patience: Patience,
        time_remaining: Callable[[], float],
        *,
        max_calls: int = 64,
    ) -> None:
        """Take the model, where it is, and how long it is waited for; `time_remaining` tells the caller's seconds."""
        self._model = model
        self._requests = OpenAiRequests(model, endpoint, patience, time_remaining)
        self._at_once = endpoint.connections
        self._max_calls = max_calls
        self._calls = 0
        self._tokens: WholeTokens | None = None

    async def __aenter__(self) -> Self:
        """Load the tokenizer and ask the endpoint once; raise as `OpenAiRequests` does."""
        self._tokens = await asyncio.to_thread(WholeTokens, self._model.tokenizer)
        await self._requests.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections; what is under way fails."""
        await self._requests.__aexit__(kind, error, trace)

    @property
    def model_name(self) -> str:
        """Name of the model, as its embedding space bears it."""
        return self._model.space_name

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        if self._requests.dimensions is None:
            raise RuntimeError("the embedder is used outside its `async with`")
        return self._requests.dimensions

    @property
    def max_tokens(self) -> int:
        """Longest text in tokens, the model's special ones included."""
        return self._model.tokenizer.max_tokens

    @property
    def tokens_used(self) -> int:
        """Tokens that the endpoint counted since the start: what it is paid for."""
        return self._requests.tokens_used

    @property
    def batch(self) -> int:
        """Texts that a call should hold: a request of good size for each connection."""
        return self._at_once * _INPUTS

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the model's special ones, on the calling thread."""
        return self._counter.count(text)

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, which has less time than a document and waits for none; raise as `embed`."""
        with self._admitted():
            await asyncio.to_thread(self._checked, [text])
            return await self._requests.question(text)

    async def embed(
        self, texts: Sequence[str], sentences: Sequence[Sequence[Span]] | None = None
    ) -> list[EmbeddedVector]:
        """Return one embedding per text, in order; `sentences` get no vectors, since an endpoint gives none.

        Raises InvalidArgumentError with TEXT_MALFORMED or TEXT_TOO_LONG_FOR_MODEL, ResourceExhaustedError with
        SERVICE_BUSY or MODEL_BUSY, DeadlineExceededError with MODEL_UNREACHABLE, DataLossError with
        MODEL_REPLY_INVALID, and FailedPreconditionError with MODEL_QUOTA_EXHAUSTED, MODEL_ACCESS_DENIED, MODEL_UNKNOWN
        or MODEL_REQUEST_REFUSED.
        """
        if sentences is not None and len(sentences) != len(texts):
            raise ValueError("sentences are those of other texts: one list is shorter")
        with self._admitted():
            waiting = batches(await asyncio.to_thread(self._checked, texts), self._limits(len(texts)))
            found: dict[int, EmbeddedVector] = {}
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self._at_once, len(texts))):
                        group.create_task(self._embed_each(waiting, texts, found))
            except ExceptionGroup as failures:
                raise failures.exceptions[0] from None
            return [found[position] for position in range(len(texts))]

    async def _embed_each(
        self, waiting: Iterator[list[int]], texts: Sequence[str], found: dict[int, EmbeddedVector]
    ) -> None:
        """Embed the batches that others left of `waiting`."""
        for batch in waiting:
            rows = await self._requests.passages([texts[position] for position in batch])
            for position, vector in zip(batch, rows, strict=True):
                found[position] = EmbeddedVector(vector, None)

    def _limits(self, texts: int) -> RequestLimits:
        """Return the endpoint's limits, lowered so that a call's texts are shared out to all connections."""
        limits = self._model.limits
        share = max(-(-texts // self._at_once), _FEWEST_INPUTS)
        return RequestLimits(min(limits.inputs, share), limits.tokens)

    def _checked(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, special ones included; raise InvalidArgumentError on one that cannot pass."""
        return [self._fitting(text) for text in texts]

    def _fitting(self, text: str) -> int:
        if not is_well_formed(text):
            raise InvalidArgumentError(Reason.TEXT_MALFORMED, "The text holds NUL or a lone surrogate; remove it.")
        if not text.strip():
            raise InvalidArgumentError(Reason.TEXT_MALFORMED, "The text is blank, and the embedding model takes none.")
        least = len(text) // _CHARACTERS_PER_TOKEN
        tokens = least if least > self.max_tokens else self.count(text) + self._counter.special
        if tokens > self.max_tokens:
            raise InvalidArgumentError(
                Reason.TEXT_TOO_LONG_FOR_MODEL,
                f"The text has {tokens} tokens and the embedding model takes {self.max_tokens}; shorten it.",
                tokens=tokens,
                maxTokens=self.max_tokens,
            )
        return tokens

    @property
    def _counter(self) -> WholeTokens:
        if self._tokens is None:
            raise RuntimeError("the embedder is used outside its `async with`")
        return self._tokens

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        if self._calls >= self._max_calls:
            raise ResourceExhaustedError(Reason.SERVICE_BUSY, "Too many texts wait to be embedded; try again.")
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
