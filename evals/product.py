"""The product as a caller over gRPC knows it: documents in and out, searches, answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self, TypeVar
from urllib.parse import quote

import grpc

from attest.answer.v1 import answer_service_pb2 as answers
from attest.answer.v1.answer_service_pb2_grpc import AnswerServiceStub
from attest.ingest.v1 import ingest_service_pb2 as ingests
from attest.ingest.v1.ingest_service_pb2_grpc import IngestServiceStub
from attest.retrieval.v1 import retrieval_service_pb2 as searches
from attest.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from evals.questions import Document
from services.common.rpc.client import channel
from services.common.rpc.status import error_of

CALL_SECONDS = 30.0
INGEST_SECONDS = 120.0
_SENDS = 8
_PAUSE_SECONDS = 0.5
_WORTH_ANOTHER = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
    }
)
T = TypeVar("T")


class CallError(Exception):
    """A call failed for good; `name` is the service's reason, or the status where none is given."""

    def __init__(self, name: str, message: str) -> None:
        """Take the name of the failure and what the service says to do."""
        super().__init__(f"{name}: {message}")
        self.name = name


class Product:
    """The three services of one running stack; calls that may end well when made again are, a few times."""

    def __init__(self, ingest: Any, retrieval: Any, answer: Any) -> None:
        """Take the stubs."""
        self._ingest: Any = ingest
        self._retrieval: Any = retrieval
        self._answer: Any = answer

    @classmethod
    @asynccontextmanager
    async def at(cls, ports: dict[str, int]) -> AsyncIterator[Self]:
        """Open channels to the services' own ports, where no rate limit stands."""
        async with AsyncExitStack() as stack:
            ingest, retrieval, answer = [
                await stack.enter_async_context(channel(f"dns:///127.0.0.1:{ports[name]}"))
                for name in ("INGEST", "RETRIEVAL", "ANSWER")
            ]
            yield cls(IngestServiceStub(ingest), RetrievalServiceStub(retrieval), AnswerServiceStub(answer))

    async def ingest(self, lane: str, document: Document) -> tuple[str, int]:
        """Put the document in and return its id and chunks; a long one that runs out of time goes on where it was."""
        request = ingests.IngestDocumentRequest(
            lane=lane,
            source_url=quote(document.doc_id, safe="/-._~"),
            title=document.title[:300],
            content=document.text,
        )
        done = await _patiently(lambda: self._ingest.IngestDocument(request, timeout=INGEST_SECONDS))
        return done.document.document_id, done.document.chunk_count

    async def delete(self, document_id: str) -> None:
        """Take the document out."""
        request = ingests.DeleteDocumentRequest(document_id=document_id)
        await _patiently(lambda: self._ingest.DeleteDocument(request, timeout=CALL_SECONDS))

    async def search(
        self, question: str, lanes: Sequence[str], top_k: int, min_similarity: float | None = None
    ) -> searches.SearchResponse:
        """Return the best passages, at the space's own chunk filter unless `min_similarity` is given."""
        request = searches.SearchRequest(query=question, lanes=lanes, top_k=top_k, min_similarity=min_similarity)
        return await _patiently(lambda: self._retrieval.Search(request, timeout=CALL_SECONDS))

    async def space(self) -> dict[str, Any]:
        """Return the active embedding space as a search tells it."""
        found = await self.search("space", (), 1)
        return {
            "space_id": found.space_id,
            "model": found.embedding_model,
            "min_similarity": found.min_similarity,
            "gate_start": found.gate_start,
            "mode": searches.SearchMode.Mode.Name(found.mode),
        }

    async def answer(self, question: str, lanes: Sequence[str]) -> answers.AnswerResponse:
        """Return the answer, all settings at their defaults."""
        request = answers.AnswerRequest(question=question, lanes=lanes)
        return await _patiently(lambda: self._answer.Answer(request, timeout=CALL_SECONDS))


async def _patiently(call: Callable[[], Awaitable[T]]) -> T:
    for sent in range(1, _SENDS + 1):
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            if error.code() not in _WORTH_ANOTHER or sent == _SENDS:
                told = error_of(error)
                raise CallError(told.reason.value if told else error.code().name, error.details() or "") from error
        await asyncio.sleep(_PAUSE_SECONDS * sent)
    raise AssertionError("the loop returns or raises")
