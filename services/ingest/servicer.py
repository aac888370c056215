"""Translates between the ingest contract and the use-case."""

from datetime import datetime
from typing import Any, NoReturn

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from attest.ingest.v1 import ingest_service_pb2 as pb
from attest.ingest.v1 import ingest_service_pb2_grpc
from services.common.errors import Reason, UnimplementedError
from services.common.identity import Scope
from services.common.rpc.context import current_principal
from services.ingest.ingest import IngestDocument, IngestResult
from services.ingest.model import Outcome, StoredDocument
from services.ingest.request import IngestRequest

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
    "ListEmbeddingSpaces": Scope.ADMIN,
}

_OUTCOMES = {
    Outcome.CREATED: pb.IngestOutcome.CREATED,
    Outcome.REPLACED: pb.IngestOutcome.REPLACED,
    Outcome.UNCHANGED: pb.IngestOutcome.UNCHANGED,
}


class IngestServicer(ingest_service_pb2_grpc.IngestServiceServicer):
    """The ingest service on the wire."""

    def __init__(self, ingest_document: IngestDocument) -> None:
        """Take the use-case."""
        self._ingest_document = ingest_document

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
        return _response(await self._ingest_document(checked))

    async def _not_served(self, request: Any, context: grpc.aio.ServicerContext) -> NoReturn:
        raise UnimplementedError(Reason.NOT_IMPLEMENTED, "This call is not served yet.")

    UploadDocument = _not_served
    GetDocument = _not_served
    ListDocuments = _not_served
    DeleteDocument = _not_served
    ListLanes = _not_served
    CreateEmbeddingSpace = _not_served
    ReembedSpace = _not_served
    ActivateEmbeddingSpace = _not_served
    ListEmbeddingSpaces = _not_served


def _response(result: IngestResult) -> pb.IngestDocumentResponse:
    return pb.IngestDocumentResponse(
        outcome=_OUTCOMES[result.outcome],
        document=_document(result.document),
        chunks_added=result.chunks_added,
        chunks_kept=result.chunks_kept,
        chunks_removed=result.chunks_removed,
        tokens_embedded=result.tokens_embedded,
        warnings=result.warnings,
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
    )


def _timestamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
