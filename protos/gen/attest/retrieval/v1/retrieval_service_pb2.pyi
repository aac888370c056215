from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Passage(_message.Message):
    __slots__ = ("passage_id", "document_id", "lane", "source", "source_url", "version", "page", "heading_path", "char_start", "char_end", "content", "content_sha256", "similarity", "vector_rank", "lexical_rank")
    PASSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    CHAR_START_FIELD_NUMBER: _ClassVar[int]
    CHAR_END_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    VECTOR_RANK_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_RANK_FIELD_NUMBER: _ClassVar[int]
    passage_id: str
    document_id: str
    lane: str
    source: str
    source_url: str
    version: int
    page: int
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    char_start: int
    char_end: int
    content: str
    content_sha256: str
    similarity: float
    vector_rank: int
    lexical_rank: int
    def __init__(self, passage_id: _Optional[str] = ..., document_id: _Optional[str] = ..., lane: _Optional[str] = ..., source: _Optional[str] = ..., source_url: _Optional[str] = ..., version: _Optional[int] = ..., page: _Optional[int] = ..., heading_path: _Optional[_Iterable[str]] = ..., char_start: _Optional[int] = ..., char_end: _Optional[int] = ..., content: _Optional[str] = ..., content_sha256: _Optional[str] = ..., similarity: _Optional[float] = ..., vector_rank: _Optional[int] = ..., lexical_rank: _Optional[int] = ...) -> None: ...

class SearchMode(_message.Message):
    __slots__ = ()
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MODE_UNSPECIFIED: _ClassVar[SearchMode.Mode]
        HYBRID: _ClassVar[SearchMode.Mode]
        VECTOR: _ClassVar[SearchMode.Mode]
        LEXICAL: _ClassVar[SearchMode.Mode]
    MODE_UNSPECIFIED: SearchMode.Mode
    HYBRID: SearchMode.Mode
    VECTOR: SearchMode.Mode
    LEXICAL: SearchMode.Mode
    def __init__(self) -> None: ...

class SearchFilters(_message.Message):
    __slots__ = ("document_ids", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, document_ids: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("query", "embedding", "lanes", "top_k", "min_similarity", "mode", "filters", "space_id")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    query: str
    embedding: _containers.RepeatedScalarFieldContainer[float]
    lanes: _containers.RepeatedScalarFieldContainer[str]
    top_k: int
    min_similarity: float
    mode: SearchMode.Mode
    filters: SearchFilters
    space_id: str
    def __init__(self, query: _Optional[str] = ..., embedding: _Optional[_Iterable[float]] = ..., lanes: _Optional[_Iterable[str]] = ..., top_k: _Optional[int] = ..., min_similarity: _Optional[float] = ..., mode: _Optional[_Union[SearchMode.Mode, str]] = ..., filters: _Optional[_Union[SearchFilters, _Mapping]] = ..., space_id: _Optional[str] = ...) -> None: ...

class TermStatistic(_message.Message):
    __slots__ = ("term", "passage_count")
    TERM_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    term: str
    passage_count: int
    def __init__(self, term: _Optional[str] = ..., passage_count: _Optional[int] = ...) -> None: ...

class SearchTimings(_message.Message):
    __slots__ = ("embed_ms", "vector_search_ms", "lexical_search_ms")
    EMBED_MS_FIELD_NUMBER: _ClassVar[int]
    VECTOR_SEARCH_MS_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SEARCH_MS_FIELD_NUMBER: _ClassVar[int]
    embed_ms: float
    vector_search_ms: float
    lexical_search_ms: float
    def __init__(self, embed_ms: _Optional[float] = ..., vector_search_ms: _Optional[float] = ..., lexical_search_ms: _Optional[float] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("passages", "term_statistics", "space_id", "embedding_model", "mode", "min_similarity", "timings", "gate_start")
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    TERM_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    GATE_START_FIELD_NUMBER: _ClassVar[int]
    passages: _containers.RepeatedCompositeFieldContainer[Passage]
    term_statistics: _containers.RepeatedCompositeFieldContainer[TermStatistic]
    space_id: str
    embedding_model: str
    mode: SearchMode.Mode
    min_similarity: float
    timings: SearchTimings
    gate_start: float
    def __init__(self, passages: _Optional[_Iterable[_Union[Passage, _Mapping]]] = ..., term_statistics: _Optional[_Iterable[_Union[TermStatistic, _Mapping]]] = ..., space_id: _Optional[str] = ..., embedding_model: _Optional[str] = ..., mode: _Optional[_Union[SearchMode.Mode, str]] = ..., min_similarity: _Optional[float] = ..., timings: _Optional[_Union[SearchTimings, _Mapping]] = ..., gate_start: _Optional[float] = ...) -> None: ...

class GetPassageRequest(_message.Message):
    __slots__ = ("passage_id", "neighbours")
    PASSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    passage_id: str
    neighbours: int
    def __init__(self, passage_id: _Optional[str] = ..., neighbours: _Optional[int] = ...) -> None: ...

class GetPassageResponse(_message.Message):
    __slots__ = ("passage", "before", "after")
    PASSAGE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    passage: Passage
    before: _containers.RepeatedCompositeFieldContainer[Passage]
    after: _containers.RepeatedCompositeFieldContainer[Passage]
    def __init__(self, passage: _Optional[_Union[Passage, _Mapping]] = ..., before: _Optional[_Iterable[_Union[Passage, _Mapping]]] = ..., after: _Optional[_Iterable[_Union[Passage, _Mapping]]] = ...) -> None: ...

class CitedSpan(_message.Message):
    __slots__ = ("passage_id", "content_sha256")
    PASSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    passage_id: str
    content_sha256: str
    def __init__(self, passage_id: _Optional[str] = ..., content_sha256: _Optional[str] = ...) -> None: ...

class CitationCheck(_message.Message):
    __slots__ = ("passage_id", "state")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATE_UNSPECIFIED: _ClassVar[CitationCheck.State]
        INTACT: _ClassVar[CitationCheck.State]
        CHANGED: _ClassVar[CitationCheck.State]
        GONE: _ClassVar[CitationCheck.State]
    STATE_UNSPECIFIED: CitationCheck.State
    INTACT: CitationCheck.State
    CHANGED: CitationCheck.State
    GONE: CitationCheck.State
    PASSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    passage_id: str
    state: CitationCheck.State
    def __init__(self, passage_id: _Optional[str] = ..., state: _Optional[_Union[CitationCheck.State, str]] = ...) -> None: ...

class VerifyCitationsRequest(_message.Message):
    __slots__ = ("citations",)
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    citations: _containers.RepeatedCompositeFieldContainer[CitedSpan]
    def __init__(self, citations: _Optional[_Iterable[_Union[CitedSpan, _Mapping]]] = ...) -> None: ...

class VerifyCitationsResponse(_message.Message):
    __slots__ = ("checks",)
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    checks: _containers.RepeatedCompositeFieldContainer[CitationCheck]
    def __init__(self, checks: _Optional[_Iterable[_Union[CitationCheck, _Mapping]]] = ...) -> None: ...

class EmbedTextsRequest(_message.Message):
    __slots__ = ("texts",)
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, texts: _Optional[_Iterable[str]] = ...) -> None: ...

class Embedding(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class EmbedTextsResponse(_message.Message):
    __slots__ = ("embeddings", "space_id")
    EMBEDDINGS_FIELD_NUMBER: _ClassVar[int]
    SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    embeddings: _containers.RepeatedCompositeFieldContainer[Embedding]
    space_id: str
    def __init__(self, embeddings: _Optional[_Iterable[_Union[Embedding, _Mapping]]] = ..., space_id: _Optional[str] = ...) -> None: ...
