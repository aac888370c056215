import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AnswerOutcome(_message.Message):
    __slots__ = ()
    class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OUTCOME_UNSPECIFIED: _ClassVar[AnswerOutcome.Outcome]
        ANSWERED: _ClassVar[AnswerOutcome.Outcome]
        NO_EVIDENCE: _ClassVar[AnswerOutcome.Outcome]
        LOW_SUPPORT: _ClassVar[AnswerOutcome.Outcome]
        BLOCKED: _ClassVar[AnswerOutcome.Outcome]
    OUTCOME_UNSPECIFIED: AnswerOutcome.Outcome
    ANSWERED: AnswerOutcome.Outcome
    NO_EVIDENCE: AnswerOutcome.Outcome
    LOW_SUPPORT: AnswerOutcome.Outcome
    BLOCKED: AnswerOutcome.Outcome
    def __init__(self) -> None: ...

class Turn(_message.Message):
    __slots__ = ("question", "answer")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    question: str
    answer: str
    def __init__(self, question: _Optional[str] = ..., answer: _Optional[str] = ...) -> None: ...

class AnswerRequest(_message.Message):
    __slots__ = ("question", "lanes", "top_k", "min_similarity", "history")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    question: str
    lanes: _containers.RepeatedScalarFieldContainer[str]
    top_k: int
    min_similarity: float
    history: _containers.RepeatedCompositeFieldContainer[Turn]
    def __init__(self, question: _Optional[str] = ..., lanes: _Optional[_Iterable[str]] = ..., top_k: _Optional[int] = ..., min_similarity: _Optional[float] = ..., history: _Optional[_Iterable[_Union[Turn, _Mapping]]] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("n", "source", "source_url", "snippet", "similarity", "cited", "passage_id", "document_id", "lane", "version", "page", "heading_path", "char_start", "char_end", "content", "content_sha256")
    N_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    CITED_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    CHAR_START_FIELD_NUMBER: _ClassVar[int]
    CHAR_END_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    n: int
    source: str
    source_url: str
    snippet: str
    similarity: float
    cited: bool
    passage_id: str
    document_id: str
    lane: str
    version: int
    page: int
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    char_start: int
    char_end: int
    content: str
    content_sha256: str
    def __init__(self, n: _Optional[int] = ..., source: _Optional[str] = ..., source_url: _Optional[str] = ..., snippet: _Optional[str] = ..., similarity: _Optional[float] = ..., cited: _Optional[bool] = ..., passage_id: _Optional[str] = ..., document_id: _Optional[str] = ..., lane: _Optional[str] = ..., version: _Optional[int] = ..., page: _Optional[int] = ..., heading_path: _Optional[_Iterable[str]] = ..., char_start: _Optional[int] = ..., char_end: _Optional[int] = ..., content: _Optional[str] = ..., content_sha256: _Optional[str] = ...) -> None: ...

class SupportSpan(_message.Message):
    __slots__ = ("n", "char_start", "char_end")
    N_FIELD_NUMBER: _ClassVar[int]
    CHAR_START_FIELD_NUMBER: _ClassVar[int]
    CHAR_END_FIELD_NUMBER: _ClassVar[int]
    n: int
    char_start: int
    char_end: int
    def __init__(self, n: _Optional[int] = ..., char_start: _Optional[int] = ..., char_end: _Optional[int] = ...) -> None: ...

class Sentence(_message.Message):
    __slots__ = ("text", "verdict", "citations", "support")
    class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        VERDICT_UNSPECIFIED: _ClassVar[Sentence.Verdict]
        QUOTED: _ClassVar[Sentence.Verdict]
        SUPPORTED: _ClassVar[Sentence.Verdict]
        WEAK: _ClassVar[Sentence.Verdict]
        UNSUPPORTED: _ClassVar[Sentence.Verdict]
    VERDICT_UNSPECIFIED: Sentence.Verdict
    QUOTED: Sentence.Verdict
    SUPPORTED: Sentence.Verdict
    WEAK: Sentence.Verdict
    UNSUPPORTED: Sentence.Verdict
    TEXT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_FIELD_NUMBER: _ClassVar[int]
    text: str
    verdict: Sentence.Verdict
    citations: _containers.RepeatedScalarFieldContainer[int]
    support: _containers.RepeatedCompositeFieldContainer[SupportSpan]
    def __init__(self, text: _Optional[str] = ..., verdict: _Optional[_Union[Sentence.Verdict, str]] = ..., citations: _Optional[_Iterable[int]] = ..., support: _Optional[_Iterable[_Union[SupportSpan, _Mapping]]] = ...) -> None: ...

class Record(_message.Message):
    __slots__ = ("q_hash", "q_len", "outcome", "guard_verdict", "guard_rules", "latency_ms", "embed_ms", "vector_search_ms", "lexical_search_ms", "generate_ms", "verify_ms", "chunk_count", "prompt_tokens", "completion_tokens", "estimated_cost_usd", "embedding_model", "generator", "trace_id", "record_time")
    class GuardVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GUARD_VERDICT_UNSPECIFIED: _ClassVar[Record.GuardVerdict]
        NOT_SCREENED: _ClassVar[Record.GuardVerdict]
        CLEAN: _ClassVar[Record.GuardVerdict]
        FLAGGED: _ClassVar[Record.GuardVerdict]
        REFUSED: _ClassVar[Record.GuardVerdict]
    GUARD_VERDICT_UNSPECIFIED: Record.GuardVerdict
    NOT_SCREENED: Record.GuardVerdict
    CLEAN: Record.GuardVerdict
    FLAGGED: Record.GuardVerdict
    REFUSED: Record.GuardVerdict
    Q_HASH_FIELD_NUMBER: _ClassVar[int]
    Q_LEN_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    GUARD_VERDICT_FIELD_NUMBER: _ClassVar[int]
    GUARD_RULES_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    EMBED_MS_FIELD_NUMBER: _ClassVar[int]
    VECTOR_SEARCH_MS_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SEARCH_MS_FIELD_NUMBER: _ClassVar[int]
    GENERATE_MS_FIELD_NUMBER: _ClassVar[int]
    VERIFY_MS_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_COST_USD_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    GENERATOR_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    RECORD_TIME_FIELD_NUMBER: _ClassVar[int]
    q_hash: str
    q_len: int
    outcome: AnswerOutcome.Outcome
    guard_verdict: Record.GuardVerdict
    guard_rules: _containers.RepeatedScalarFieldContainer[str]
    latency_ms: float
    embed_ms: float
    vector_search_ms: float
    lexical_search_ms: float
    generate_ms: float
    verify_ms: float
    chunk_count: int
    prompt_tokens: int
    completion_tokens: int
    estimated_cost_usd: float
    embedding_model: str
    generator: str
    trace_id: str
    record_time: _timestamp_pb2.Timestamp
    def __init__(self, q_hash: _Optional[str] = ..., q_len: _Optional[int] = ..., outcome: _Optional[_Union[AnswerOutcome.Outcome, str]] = ..., guard_verdict: _Optional[_Union[Record.GuardVerdict, str]] = ..., guard_rules: _Optional[_Iterable[str]] = ..., latency_ms: _Optional[float] = ..., embed_ms: _Optional[float] = ..., vector_search_ms: _Optional[float] = ..., lexical_search_ms: _Optional[float] = ..., generate_ms: _Optional[float] = ..., verify_ms: _Optional[float] = ..., chunk_count: _Optional[int] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., estimated_cost_usd: _Optional[float] = ..., embedding_model: _Optional[str] = ..., generator: _Optional[str] = ..., trace_id: _Optional[str] = ..., record_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class AnswerResponse(_message.Message):
    __slots__ = ("outcome", "answer", "sources", "sentences", "record")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    outcome: AnswerOutcome.Outcome
    answer: str
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    sentences: _containers.RepeatedCompositeFieldContainer[Sentence]
    record: Record
    def __init__(self, outcome: _Optional[_Union[AnswerOutcome.Outcome, str]] = ..., answer: _Optional[str] = ..., sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., sentences: _Optional[_Iterable[_Union[Sentence, _Mapping]]] = ..., record: _Optional[_Union[Record, _Mapping]] = ...) -> None: ...

class StreamAnswerRequest(_message.Message):
    __slots__ = ("question", "lanes", "top_k", "min_similarity", "history")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    MIN_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    question: str
    lanes: _containers.RepeatedScalarFieldContainer[str]
    top_k: int
    min_similarity: float
    history: _containers.RepeatedCompositeFieldContainer[Turn]
    def __init__(self, question: _Optional[str] = ..., lanes: _Optional[_Iterable[str]] = ..., top_k: _Optional[int] = ..., min_similarity: _Optional[float] = ..., history: _Optional[_Iterable[_Union[Turn, _Mapping]]] = ...) -> None: ...

class StreamAnswerResponse(_message.Message):
    __slots__ = ("started", "sources", "sentence", "done", "error")
    class Started(_message.Message):
        __slots__ = ("q_hash",)
        Q_HASH_FIELD_NUMBER: _ClassVar[int]
        q_hash: str
        def __init__(self, q_hash: _Optional[str] = ...) -> None: ...
    class Sources(_message.Message):
        __slots__ = ("sources",)
        SOURCES_FIELD_NUMBER: _ClassVar[int]
        sources: _containers.RepeatedCompositeFieldContainer[Source]
        def __init__(self, sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ...) -> None: ...
    class Done(_message.Message):
        __slots__ = ("response",)
        RESPONSE_FIELD_NUMBER: _ClassVar[int]
        response: AnswerResponse
        def __init__(self, response: _Optional[_Union[AnswerResponse, _Mapping]] = ...) -> None: ...
    class Error(_message.Message):
        __slots__ = ("code", "reason", "message")
        CODE_FIELD_NUMBER: _ClassVar[int]
        REASON_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        code: str
        reason: str
        message: str
        def __init__(self, code: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...
    STARTED_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    started: StreamAnswerResponse.Started
    sources: StreamAnswerResponse.Sources
    sentence: Sentence
    done: StreamAnswerResponse.Done
    error: StreamAnswerResponse.Error
    def __init__(self, started: _Optional[_Union[StreamAnswerResponse.Started, _Mapping]] = ..., sources: _Optional[_Union[StreamAnswerResponse.Sources, _Mapping]] = ..., sentence: _Optional[_Union[Sentence, _Mapping]] = ..., done: _Optional[_Union[StreamAnswerResponse.Done, _Mapping]] = ..., error: _Optional[_Union[StreamAnswerResponse.Error, _Mapping]] = ...) -> None: ...

class ListRecordsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRecordsResponse(_message.Message):
    __slots__ = ("records", "next_page_token")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[Record]
    next_page_token: str
    def __init__(self, records: _Optional[_Iterable[_Union[Record, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetRecordRequest(_message.Message):
    __slots__ = ("q_hash",)
    Q_HASH_FIELD_NUMBER: _ClassVar[int]
    q_hash: str
    def __init__(self, q_hash: _Optional[str] = ...) -> None: ...

class GetRecordResponse(_message.Message):
    __slots__ = ("record",)
    RECORD_FIELD_NUMBER: _ClassVar[int]
    record: Record
    def __init__(self, record: _Optional[_Union[Record, _Mapping]] = ...) -> None: ...
