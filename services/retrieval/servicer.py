"""Translates between the retrieval contract and the use-cases."""

import hashlib
from typing import Any, NoReturn

import grpc

from attest.retrieval.v1 import retrieval_service_pb2 as pb
from attest.retrieval.v1 import retrieval_service_pb2_grpc
from services.common.errors import Reason, UnimplementedError
from services.common.identity import Scope
from services.common.rpc.context import current_principal
from services.retrieval.model import Passage
from services.retrieval.search import Search, SearchRequest, SearchResult

SERVICE_NAME = pb.DESCRIPTOR.services_by_name["RetrievalService"].full_name

SCOPES = {
    "Search": Scope.ASK,
    "GetPassage": Scope.ASK,
    "VerifyCitations": Scope.ASK,
    "EmbedTexts": Scope.ADMIN,
}

_SERVED_MODES = (pb.SearchMode.MODE_UNSPECIFIED, pb.SearchMode.VECTOR)


class RetrievalServicer(retrieval_service_pb2_grpc.RetrievalServiceServicer):
    """The retrieval service on the wire."""

    def __init__(self, search: Search) -> None:
        """Take the use-case."""
        self._search = search

    async def Search(  # noqa: N802  # the name is the contract's
        self, request: pb.SearchRequest, context: grpc.aio.ServicerContext
    ) -> pb.SearchResponse:
        """Return the closest passages."""
        _refuse_what_is_not_served(request)
        checked = SearchRequest.checked(
            tenant=current_principal().tenant,
            query=request.query,
            embedding=request.embedding,
            lanes=request.lanes,
            top_k=request.top_k if request.HasField("top_k") else None,
            min_similarity=request.min_similarity if request.HasField("min_similarity") else None,
            space_id=request.space_id or None,
        )
        return _response(await self._search(checked))

    async def _not_served(self, request: Any, context: grpc.aio.ServicerContext) -> NoReturn:
        raise UnimplementedError(Reason.NOT_IMPLEMENTED, "This call is not served yet.")

    GetPassage = _not_served
    VerifyCitations = _not_served
    EmbedTexts = _not_served


def _refuse_what_is_not_served(request: pb.SearchRequest) -> None:
    if request.mode not in _SERVED_MODES:
        raise UnimplementedError(
            Reason.NOT_IMPLEMENTED, "Only the mode VECTOR is served yet; leave mode out.", field="mode"
        )
    if request.HasField("filters"):
        raise UnimplementedError(Reason.NOT_IMPLEMENTED, "Filters are not served yet; leave them out.", field="filters")


def _response(result: SearchResult) -> pb.SearchResponse:
    return pb.SearchResponse(
        passages=[_passage(passage) for passage in result.passages],
        space_id=str(result.space.space_id),
        embedding_model=result.space.model,
        mode=pb.SearchMode.VECTOR,
        min_similarity=round(result.min_similarity, 6),
        gate_start=round(result.space.gate_start, 6),
        timings=pb.SearchTimings(
            embed_ms=round(result.embed_ms, 3), vector_search_ms=round(result.vector_search_ms, 3)
        ),
    )


def _passage(passage: Passage) -> pb.Passage:
    return pb.Passage(
        passage_id=passage.passage_id,
        document_id=passage.document_id,
        lane=passage.lane,
        source=passage.title,
        source_url=passage.source_url,
        version=passage.version,
        page=passage.page,
        heading_path=passage.heading_path,
        char_start=passage.char_start,
        char_end=passage.char_end,
        content=passage.content,
        content_sha256=hashlib.sha256(passage.content.encode()).hexdigest(),
        similarity=round(passage.similarity, 6),
        vector_rank=passage.vector_rank,
        lexical_rank=passage.lexical_rank,
    )
