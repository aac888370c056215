import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.api import httpbody_pb2 as _httpbody_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Document(_message.Message):
    __slots__ = ("document_id", "lane", "source_url", "title", "media_type", "version", "content_sha256", "char_count", "page_count", "chunk_count", "metadata", "create_time", "update_time", "up_to_date")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    CHAR_COUNT_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UP_TO_DATE_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    lane: str
    source_url: str
    title: str
    media_type: str
    version: int
    content_sha256: str
    char_count: int
    page_count: int
    chunk_count: int
    metadata: _containers.ScalarMap[str, str]
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    up_to_date: bool
    def __init__(self, document_id: _Optional[str] = ..., lane: _Optional[str] = ..., source_url: _Optional[str] = ..., title: _Optional[str] = ..., media_type: _Optional[str] = ..., version: _Optional[int] = ..., content_sha256: _Optional[str] = ..., char_count: _Optional[int] = ..., page_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., metadata: _Optional[_Mapping[str, str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., up_to_date: _Optional[bool] = ...) -> None: ...

class IngestOutcome(_message.Message):
    __slots__ = ()
    class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OUTCOME_UNSPECIFIED: _ClassVar[IngestOutcome.Outcome]
        CREATED: _ClassVar[IngestOutcome.Outcome]
        REPLACED: _ClassVar[IngestOutcome.Outcome]
        UNCHANGED: _ClassVar[IngestOutcome.Outcome]
    OUTCOME_UNSPECIFIED: IngestOutcome.Outcome
    CREATED: IngestOutcome.Outcome
    REPLACED: IngestOutcome.Outcome
    UNCHANGED: IngestOutcome.Outcome
    def __init__(self) -> None: ...

class IngestDocumentRequest(_message.Message):
    __slots__ = ("lane", "source_url", "title", "media_type", "content", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LANE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    lane: str
    source_url: str
    title: str
    media_type: str
    content: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, lane: _Optional[str] = ..., source_url: _Optional[str] = ..., title: _Optional[str] = ..., media_type: _Optional[str] = ..., content: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class IngestDocumentResponse(_message.Message):
    __slots__ = ("outcome", "document", "chunks_added", "chunks_kept", "chunks_removed", "tokens_embedded", "warnings", "pages_with_text", "pages_without_text", "estimated_cost_usd")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_ADDED_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_KEPT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_REMOVED_FIELD_NUMBER: _ClassVar[int]
    TOKENS_EMBEDDED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    PAGES_WITH_TEXT_FIELD_NUMBER: _ClassVar[int]
    PAGES_WITHOUT_TEXT_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_COST_USD_FIELD_NUMBER: _ClassVar[int]
    outcome: IngestOutcome.Outcome
    document: Document
    chunks_added: int
    chunks_kept: int
    chunks_removed: int
    tokens_embedded: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    pages_with_text: int
    pages_without_text: int
    estimated_cost_usd: float
    def __init__(self, outcome: _Optional[_Union[IngestOutcome.Outcome, str]] = ..., document: _Optional[_Union[Document, _Mapping]] = ..., chunks_added: _Optional[int] = ..., chunks_kept: _Optional[int] = ..., chunks_removed: _Optional[int] = ..., tokens_embedded: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ..., pages_with_text: _Optional[int] = ..., pages_without_text: _Optional[int] = ..., estimated_cost_usd: _Optional[float] = ...) -> None: ...

class UploadDocumentRequest(_message.Message):
    __slots__ = ("lane", "source_url", "title", "filename", "data")
    LANE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    lane: str
    source_url: str
    title: str
    filename: str
    data: _httpbody_pb2.HttpBody
    def __init__(self, lane: _Optional[str] = ..., source_url: _Optional[str] = ..., title: _Optional[str] = ..., filename: _Optional[str] = ..., data: _Optional[_Union[_httpbody_pb2.HttpBody, _Mapping]] = ...) -> None: ...

class UploadDocumentResponse(_message.Message):
    __slots__ = ("received_bytes", "embedded_chunks", "total_chunks", "result", "error")
    class Error(_message.Message):
        __slots__ = ("code", "reason", "message")
        CODE_FIELD_NUMBER: _ClassVar[int]
        REASON_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        code: str
        reason: str
        message: str
        def __init__(self, code: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...
    RECEIVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    received_bytes: int
    embedded_chunks: int
    total_chunks: int
    result: IngestDocumentResponse
    error: UploadDocumentResponse.Error
    def __init__(self, received_bytes: _Optional[int] = ..., embedded_chunks: _Optional[int] = ..., total_chunks: _Optional[int] = ..., result: _Optional[_Union[IngestDocumentResponse, _Mapping]] = ..., error: _Optional[_Union[UploadDocumentResponse.Error, _Mapping]] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("document_id",)
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    def __init__(self, document_id: _Optional[str] = ...) -> None: ...

class GetDocumentResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: Document
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("lane", "page_size", "page_token", "source_url_prefix")
    LANE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_PREFIX_FIELD_NUMBER: _ClassVar[int]
    lane: str
    page_size: int
    page_token: str
    source_url_prefix: str
    def __init__(self, lane: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., source_url_prefix: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("document_id",)
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    def __init__(self, document_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("document", "chunks_deleted", "vectors_deleted")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_DELETED_FIELD_NUMBER: _ClassVar[int]
    VECTORS_DELETED_FIELD_NUMBER: _ClassVar[int]
    document: Document
    chunks_deleted: int
    vectors_deleted: int
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., chunks_deleted: _Optional[int] = ..., vectors_deleted: _Optional[int] = ...) -> None: ...

class Lane(_message.Message):
    __slots__ = ("name", "description", "chunk_tokens", "overlap_tokens", "document_count", "title_prefix")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CHUNK_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TITLE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    chunk_tokens: int
    overlap_tokens: int
    document_count: int
    title_prefix: bool
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., chunk_tokens: _Optional[int] = ..., overlap_tokens: _Optional[int] = ..., document_count: _Optional[int] = ..., title_prefix: _Optional[bool] = ...) -> None: ...

class ListLanesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListLanesResponse(_message.Message):
    __slots__ = ("lanes", "next_page_token")
    LANES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    lanes: _containers.RepeatedCompositeFieldContainer[Lane]
    next_page_token: str
    def __init__(self, lanes: _Optional[_Iterable[_Union[Lane, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class EmbeddingSpace(_message.Message):
    __slots__ = ("space_id", "model", "dimensions", "index_kind", "min_similarity", "state", "gate_start")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATE_UNSPECIFIED: _ClassVar[EmbeddingSpace.State]
        BUILDING: _ClassVar[EmbeddingSpace.State]
        READY: _ClassVar[EmbeddingSpace.State]
        ACTIVE: _ClassVar[EmbeddingSpace.State]
    STATE_UNSPECIFIED: EmbeddingSpace.State
    BUILDING: EmbeddingSpace.State
    READY: EmbeddingSpace.State
    ACTIVE: EmbeddingSpace.State
    class IndexKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        INDEX_KIND_UNSPECIFIED: _ClassVar[EmbeddingSpace.IndexKind]
        HNSW_VECTOR: _ClassVar[EmbeddingSpace.IndexKind]
        HNSW_HALFVEC: _ClassVar[EmbeddingSpace.IndexKind]
        EXACT: _ClassVar[EmbeddingSpace.IndexKind]
    INDEX_KIND_UNSPECIFIED: EmbeddingSpace.IndexKind
    HNSW_VECTOR: EmbeddingSpace.IndexKind
    HNSW_HALFVEC: EmbeddingSpace.IndexKind
    EXACT: EmbeddingSpace.IndexKind
    SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    INDEX_KIND_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    GATE_START_FIELD_NUMBER: _ClassVar[int]
    space_id: str
    model: str
    dimensions: int
    index_kind: EmbeddingSpace.IndexKind
    min_similarity: float
    state: EmbeddingSpace.State
    gate_start: float
    def __init__(self, space_id: _Optional[str] = ..., model: _Optional[str] = ..., dimensions: _Optional[int] = ..., index_kind: _Optional[_Union[EmbeddingSpace.IndexKind, str]] = ..., min_similarity: _Optional[float] = ..., state: _Optional[_Union[EmbeddingSpace.State, str]] = ..., gate_start: _Optional[float] = ...) -> None: ...

class CreateEmbeddingSpaceRequest(_message.Message):
    __slots__ = ("model", "dimensions", "index_kind", "min_similarity")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    INDEX_KIND_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    model: str
    dimensions: int
    index_kind: EmbeddingSpace.IndexKind
    min_similarity: float
    def __init__(self, model: _Optional[str] = ..., dimensions: _Optional[int] = ..., index_kind: _Optional[_Union[EmbeddingSpace.IndexKind, str]] = ..., min_similarity: _Optional[float] = ...) -> None: ...

class CreateEmbeddingSpaceResponse(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: EmbeddingSpace
    def __init__(self, space: _Optional[_Union[EmbeddingSpace, _Mapping]] = ...) -> None: ...

class ReembedSpaceRequest(_message.Message):
    __slots__ = ("space_id",)
    SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    space_id: str
    def __init__(self, space_id: _Optional[str] = ...) -> None: ...

class ReembedSpaceResponse(_message.Message):
    __slots__ = ("embedded_chunks", "total_chunks")
    EMBEDDED_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    embedded_chunks: int
    total_chunks: int
    def __init__(self, embedded_chunks: _Optional[int] = ..., total_chunks: _Optional[int] = ...) -> None: ...

class ActivateEmbeddingSpaceRequest(_message.Message):
    __slots__ = ("space_id",)
    SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    space_id: str
    def __init__(self, space_id: _Optional[str] = ...) -> None: ...

class ActivateEmbeddingSpaceResponse(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: EmbeddingSpace
    def __init__(self, space: _Optional[_Union[EmbeddingSpace, _Mapping]] = ...) -> None: ...

class SetThresholdsRequest(_message.Message):
    __slots__ = ("space_id", "min_similarity", "gate_start")
    SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    GATE_START_FIELD_NUMBER: _ClassVar[int]
    space_id: str
    min_similarity: float
    gate_start: float
    def __init__(self, space_id: _Optional[str] = ..., min_similarity: _Optional[float] = ..., gate_start: _Optional[float] = ...) -> None: ...

class SetThresholdsResponse(_message.Message):
    __slots__ = ("space",)
    SPACE_FIELD_NUMBER: _ClassVar[int]
    space: EmbeddingSpace
    def __init__(self, space: _Optional[_Union[EmbeddingSpace, _Mapping]] = ...) -> None: ...

class ListEmbeddingSpacesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEmbeddingSpacesResponse(_message.Message):
    __slots__ = ("spaces", "next_page_token")
    SPACES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    spaces: _containers.RepeatedCompositeFieldContainer[EmbeddingSpace]
    next_page_token: str
    def __init__(self, spaces: _Optional[_Iterable[_Union[EmbeddingSpace, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
