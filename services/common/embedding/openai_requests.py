"""Requests to a hosted model: whose turn it is, how long it may take, what it cost, and that it is the right one."""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opentelemetry import trace
from opentelemetry.trace import SpanKind

from services.common.embedding.openai_model import Endpoint, HostedModel
from services.common.embedding.openai_reply import Reply, read_reply
from services.common.embedding.patience import Patience
from services.common.errors import DeadlineExceededError, DomainError, Reason
from services.common.vectors import Vector

if TYPE_CHECKING:
    from services.common.embedding.openai_client import EmbeddingsClient

_DEADLINE_SHARE = 0.95
"""Of what the caller has left, so that a failure arrives with its name before the time is over."""
_LATER = frozenset({Reason.MODEL_BUSY, Reason.MODEL_QUOTA_EXHAUSTED})
"""Failures of the first request that say nothing against the settings, beside the endpoint's being away."""

_log = logging.getLogger(__name__)
_tracer = trace.get_tracer("attest.embedding")


class OpenAiRequests:
    """Asks one model of one endpoint; use as `async with`. Questions do not wait for documents.

    The endpoint is asked once on entry, so that a wrong key, model or length of vectors is told at start.
    """

    def __init__(
        self, model: HostedModel, endpoint: Endpoint, patience: Patience, time_remaining: Callable[[], float]
    ) -> None:
        """Take what to ask, where, and for how long; `time_remaining` tells the seconds that the caller has."""
        self._model = model
        self._endpoint = endpoint
        self._patience = patience
        self._time_remaining = time_remaining
        self._documents = asyncio.Semaphore(endpoint.connections)
        self._questions = asyncio.Semaphore(endpoint.connections)
        self._client: EmbeddingsClient | None = None
        self.dimensions = model.dimensions
        """Length of the vectors; known once the `async with` was entered."""
        self.tokens_used = 0
        """Tokens that the endpoint counted since the start; what it does not count costs nothing."""

    async def __aenter__(self) -> Self:
        """Load the client and ask once.

        Raises FailedPreconditionError for a wrong key or model, DataLossError for vectors of another length, and
        DeadlineExceededError when the endpoint cannot be reached and only it can tell the length.
        """
        self._client = await asyncio.to_thread(_client, self._endpoint)
        try:
            await self._ask_once()
        except BaseException:
            await self._client.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections; what is under way fails."""
        client, self._client = self._opened, None
        await client.close()

    async def question(self, text: str) -> Vector:
        """Return the vector of one text that somebody waits for."""
        async with self._questions:
            rows = await self._rows([text], self._patience.question_seconds)
            vector: Vector = rows[0]
            return vector

    async def passages(self, texts: Sequence[str]) -> Vector:
        """Return one row per text, in order, from one request that keeps the endpoint's limits."""
        async with self._documents:
            return await self._rows(texts, self._patience.seconds)

    async def _rows(self, texts: Sequence[str], seconds: float) -> Vector:
        left = min(seconds, self._time_remaining() * _DEADLINE_SHARE)
        reply = await self._patience.repeated(partial(self._attempt, texts), left)
        return reply.vectors

    async def _attempt(self, texts: Sequence[str]) -> Reply:
        """Ask once; raise AttemptError."""
        attributes = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": self._model.name}
        with _tracer.start_as_current_span(
            "embeddings",
            kind=SpanKind.CLIENT,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            content = await self._opened.create(self._model, texts)
            reply = await asyncio.to_thread(read_reply, content, len(texts), self.dimensions)
            span.set_attribute("gen_ai.usage.input_tokens", reply.tokens)
        self.tokens_used += reply.tokens
        _log.info("embedded", extra={"fields": {"texts": len(texts), "tokens": reply.tokens}})
        return reply

    async def _ask_once(self) -> None:
        """Learn or check the length of the vectors; an endpoint that is away stops the start only where it must."""
        fields = {"model": self._model.name, "endpoint": self._endpoint.host}
        try:
            rows = await self._rows(["dimensions"], self._patience.question_seconds)
        except DomainError as error:
            is_away = isinstance(error, DeadlineExceededError) or error.reason in _LATER
            if self.dimensions is None or not is_away:
                raise
            _log.warning("embedding endpoint not reached", extra={"fields": {**fields, "reason": error.reason}})
            return
        self.dimensions = rows.shape[1]
        _log.info("embedding endpoint answers", extra={"fields": {**fields, "dimensions": self.dimensions}})

    @property
    def _opened(self) -> "EmbeddingsClient":
        if self._client is None:
            raise RuntimeError("the requests are used outside their `async with`")
        return self._client


def _client(endpoint: Endpoint) -> "EmbeddingsClient":
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        del os.environ[name]  # the library would take address, account, headers and log level from them
    from services.common.embedding.openai_client import EmbeddingsClient  # loaded where a hosted model was chosen

    return EmbeddingsClient(endpoint)
