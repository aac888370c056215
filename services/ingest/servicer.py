"""Translates between the ingest contract and the use-case."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, NoReturn

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from attest.ingest.v1 import ingest_service_pb2 as pb
from attest.ingest.v1 import ingest_service_pb2_grpc
from services.common.errors import DomainError, Reason, UnimplementedError
from services.common.identity import Scope
from services.common.rpc.context import current_principal, time_remaining
from services.common.rpc.status import code_of
from services.ingest.extent import Extent
from services.ingest.ingest import IngestDocument, IngestResult
from services.ingest.library import Library
from services.ingest.model import LaneInUse, Outcome, StoredDocument
from services.ingest.request import IngestRequest, UploadHeader
from services.ingest.spaces import SpaceDescription, Spaces
from services.ingest.upload import UploadDocument, UploadProgress

SERVICE_NAME = pb.DESCRIPTOR.services_by_name["IngestService"].full_name

SCOPES = {
    "IngestDocument": Scope.INGEST,
    "UploadDocument": Scope.INGEST,
    "GetDocument": Scope.ASK,
    "ListDocuments": Scope.ASK,
    "DeleteDocument": Scope.INGEST,
    "ListLanes": Scope.ASK,
    "CreateEmbeddingSpace": Scope.ADMIN,
    "ReembedSpace": Scope.ADMIN,
    "ActivateEmbeddingSpace": Scope.ADMIN,
    "SetThresholds": Scope.ADMIN,
    "ListEmbeddingSpaces": Scope.ADMIN,
}

_OUTCOMES = {
    Outcome.CREATED: pb.IngestOutcome.CREATED,
    Outcome.REPLACED: pb.IngestOutcome.REPLACED,
    Outcome.UNCHANGED: pb.IngestOutcome.UNCHANGED,
}


class IngestServicer(ingest_service_pb2_grpc.IngestServiceServicer):
    """The ingest service on the wire."""

    def __init__(
        self, ingest_document: IngestDocument, upload_document: UploadDocument, library: Library, spaces: Spaces
    ) -> None:
        """Take the use-cases."""
        self._ingest_document = ingest_document
        self._upload_document = upload_document
        self._library = library
        self._spaces = spaces

    async def IngestDocument(  # noqa: N802  # the name is the contract's
        self, request: pb.IngestDocumentRequest, context: grpc.aio.ServicerContext
    ) -> pb.IngestDocumentResponse:
        """Ingest a document sent inline."""
        checked = IngestRequest.checked(
            tenant=current_principal().tenant,
            lane=request.lane,
            source_url=request.source_url,
            title=request.title,
            media_type=request.media_type,
            content=request.content,
            metadata=request.metadata,
        )
        extent = Extent(time_remaining)
        async with extent.told_at_the_deadline():
            return _response(await self._ingest_document(checked, extent.reached))

    async def UploadDocument(  # noqa: N802  # the name is the contract's
        self, requests: AsyncIterator[pb.UploadDocumentRequest], context: grpc.aio.ServicerContext
    ) -> None:
        """Ingest a document sent in pieces; messages are written as they come, so that nothing outlives the call."""
        first = await anext(aiter(requests), pb.UploadDocumentRequest())
        header = UploadHeader.checked(
            tenant=current_principal().tenant,
            lane=first.lane,
            source_url=first.source_url,
            title=first.title,
            filename=first.filename,
            content_type=first.data.content_type,
        )

        talk = _Talk(context)
        async with talk.telling_failures():
            extent = Extent(time_remaining)
            async with extent.told_at_the_deadline():
                done = await self._upload_document(header, _pieces(first, requests), talk.tell, extent.reached)
            await talk.tell(done.progress, done.result)

    async def GetDocument(  # noqa: N802  # the name is the contract's
        self, request: pb.GetDocumentRequest, context: grpc.aio.ServicerContext
    ) -> pb.GetDocumentResponse:
        """Return one document of the caller."""
        found = await self._library.document(current_principal().tenant, request.document_id)
        return pb.GetDocumentResponse(document=_document(found))

    async def ListDocuments(  # noqa: N802  # the name is the contract's
        self, request: pb.ListDocumentsRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListDocumentsResponse:
        """Return a page of the caller's documents."""
        page = await self._library.documents(
            current_principal().tenant,
            request.lane,
            request.page_size,
            request.page_token,
            request.source_url_prefix,
        )
        documents = [_document(document) for document in page.documents]
        return pb.ListDocumentsResponse(documents=documents, next_page_token=page.next_page_token)

    async def DeleteDocument(  # noqa: N802  # the name is the contract's
        self, request: pb.DeleteDocumentRequest, context: grpc.aio.ServicerContext
    ) -> pb.DeleteDocumentResponse:
        """Delete one document of the caller and return the receipt."""
        gone = await self._library.delete(current_principal().tenant, request.document_id)
        return pb.DeleteDocumentResponse(
            document=_document(gone.document), chunks_deleted=gone.chunks, vectors_deleted=gone.vectors
        )

    async def ListLanes(  # noqa: N802  # the name is the contract's
        self, request: pb.ListLanesRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListLanesResponse:
        """Return a page of lanes."""
        page = await self._library.lanes(current_principal().tenant, request.page_size, request.page_token)
        lanes = [_lane(lane) for lane in page.lanes]
        return pb.ListLanesResponse(lanes=lanes, next_page_token=page.next_page_token)

    async def SetThresholds(  # noqa: N802  # the name is the contract's
        self, request: pb.SetThresholdsRequest, context: grpc.aio.ServicerContext
    ) -> pb.SetThresholdsResponse:
        """Set both thresholds of an embedding space."""
        space = await self._spaces.set_thresholds(
            request.space_id,
            request.min_similarity if request.HasField("min_similarity") else None,
            request.gate_start if request.HasField("gate_start") else None,
        )
        return pb.SetThresholdsResponse(space=_space(space))

    async def ListEmbeddingSpaces(  # noqa: N802  # the name is the contract's
        self, request: pb.ListEmbeddingSpacesRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListEmbeddingSpacesResponse:
        """Return a page of embedding spaces."""
        page = await self._spaces.list(request.page_size, request.page_token)
        spaces = [_space(space) for space in page.spaces]
        return pb.ListEmbeddingSpacesResponse(spaces=spaces, next_page_token=page.next_page_token)

    async def _not_served(self, request: Any, context: grpc.aio.ServicerContext) -> NoReturn:
        raise UnimplementedError(Reason.NOT_IMPLEMENTED, "This call is not served yet.")

    CreateEmbeddingSpace = _not_served
    ReembedSpace = _not_served
    ActivateEmbeddingSpace = _not_served


async def _pieces(
    first: pb.UploadDocumentRequest, others: AsyncIterator[pb.UploadDocumentRequest]
) -> AsyncIterator[bytes]:
    yield first.data.data
    async for request in others:
        yield request.data.data


class _Talk:
    """The messages that an upload answers with."""

    def __init__(self, context: grpc.aio.ServicerContext) -> None:
        self._context = context
        self._begun = False

    async def tell(self, progress: UploadProgress, result: IngestResult | None = None) -> None:
        self._begun = True
        await self._context.write(
            pb.UploadDocumentResponse(
                received_bytes=progress.received_bytes,
                embedded_chunks=progress.embedded_chunks,
                total_chunks=progress.total_chunks,
                result=_response(result) if result else None,
            )
        )

    @asynccontextmanager
    async def telling_failures(self) -> AsyncIterator[None]:
        """Say in-band what went wrong where the answer has begun: over REST no status can follow then."""
        try:
            yield
        except DomainError as error:
            if self._begun:
                told = pb.UploadDocumentResponse.Error(
                    code=code_of(error).name, reason=error.reason.value, message=error.message
                )
                await self._context.write(pb.UploadDocumentResponse(error=told))
            raise


def _response(result: IngestResult) -> pb.IngestDocumentResponse:
    return pb.IngestDocumentResponse(
        outcome=_OUTCOMES[result.outcome],
        document=_document(result.document),
        chunks_added=result.chunks_added,
        chunks_kept=result.chunks_kept,
        chunks_removed=result.chunks_removed,
        tokens_embedded=result.tokens_embedded,
        warnings=result.warnings,
        pages_with_text=result.pages_with_text,
        pages_without_text=result.pages_without_text,
        estimated_cost_usd=round(result.estimated_cost_usd, 9),
    )


def _document(document: StoredDocument) -> pb.Document:
    return pb.Document(
        document_id=document.document_id,
        lane=document.lane,
        source_url=document.source_url,
        title=document.title,
        media_type=document.media_type,
        version=document.version,
        content_sha256=document.content_sha256.hex(),
        char_count=document.char_count,
        page_count=document.page_count,
        chunk_count=document.chunk_count,
        metadata=document.metadata,
        create_time=_timestamp(document.created_at),
        update_time=_timestamp(document.updated_at),
        up_to_date=document.up_to_date,
    )


def _lane(used: LaneInUse) -> pb.Lane:
    return pb.Lane(
        name=used.lane.name,
        description=used.lane.description,
        chunk_tokens=used.lane.chunk_tokens,
        overlap_tokens=used.lane.overlap_tokens,
        title_prefix=used.lane.title_prefix,
        document_count=used.document_count,
    )


def _space(space: SpaceDescription) -> pb.EmbeddingSpace:
    return pb.EmbeddingSpace(
        space_id=str(space.space_id),
        model=space.model,
        dimensions=space.dimensions,
        index_kind=_index_kind(space),
        min_similarity=space.min_similarity,
        gate_start=space.gate_start,
        state=pb.EmbeddingSpace.ACTIVE if space.state == "ACTIVE" else pb.EmbeddingSpace.READY,
    )


def _index_kind(space: SpaceDescription) -> pb.EmbeddingSpace.IndexKind:
    if space.index_kind == "exact":
        return pb.EmbeddingSpace.EXACT
    return pb.EmbeddingSpace.HNSW_HALFVEC if space.element_type == "halfvec" else pb.EmbeddingSpace.HNSW_VECTOR


def _timestamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
