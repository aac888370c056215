"""Finds passages through the retrieval service."""

from collections.abc import Callable

import grpc

from attest.retrieval.v1 import retrieval_service_pb2 as pb
from attest.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from services.answer.model import Findings, Passage
from services.answer.question import Question
from services.common.errors import DeadlineExceededError, DomainError, Reason, UnavailableError
from services.common.rpc.status import error_of


class GrpcRetriever:
    """Asks the retrieval service, for no longer than the call that is being answered has left."""

    def __init__(self, stub: RetrievalServiceStub, time_remaining: Callable[[], float]) -> None:
        """Take the service's stub, and what tells the seconds that are left."""
        self._stub = stub
        self._time_remaining = time_remaining

    async def search(self, question: Question) -> Findings:
        """Return passages, best first; a refusal by the service is raised as it was made.

        Raises UnavailableError with RETRIEVAL_UNAVAILABLE when it cannot be reached, and DeadlineExceededError.
        """
        try:
            response = await self._stub.Search(_request(question), timeout=self._time_remaining())
        except grpc.aio.AioRpcError as error:
            raise _domain_error(error) from None
        return _findings(response)


def _request(question: Question) -> pb.SearchRequest:
    return pb.SearchRequest(
        query=question.text,
        lanes=question.lanes,
        top_k=question.top_k,
        min_similarity=question.min_similarity,
    )


def _findings(response: pb.SearchResponse) -> Findings:
    return Findings(
        passages=tuple(_passage(passage) for passage in response.passages),
        gate_start=response.gate_start,
        embedding_model=response.embedding_model,
        embed_ms=response.timings.embed_ms,
        vector_search_ms=response.timings.vector_search_ms,
        lexical_search_ms=response.timings.lexical_search_ms,
    )


def _passage(passage: pb.Passage) -> Passage:
    return Passage(
        passage_id=passage.passage_id,
        document_id=passage.document_id,
        lane=passage.lane,
        source=passage.source,
        source_url=passage.source_url,
        version=passage.version,
        page=passage.page if passage.HasField("page") else None,
        heading_path=tuple(passage.heading_path),
        char_start=passage.char_start,
        char_end=passage.char_end,
        content=passage.content,
        content_sha256=passage.content_sha256,
        similarity=passage.similarity,
    )


def _domain_error(error: grpc.aio.AioRpcError) -> DomainError:
    ours = error_of(error)
    if ours is not None:
        return ours
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return UnavailableError(
            Reason.RETRIEVAL_UNAVAILABLE, "The retrieval service cannot be reached; try again in a moment."
        )
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineExceededError(
            Reason.DEADLINE_EXCEEDED, "The search did not end in the time given; allow more or ask for less."
        )
    return DomainError(Reason.INTERNAL, "The search failed; report it with the request's trace id.")
