from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorReason(_message.Message):
    __slots__ = ()
    class Reason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        REASON_UNSPECIFIED: _ClassVar[ErrorReason.Reason]
        QUESTION_BLANK: _ClassVar[ErrorReason.Reason]
        QUESTION_TOO_LONG: _ClassVar[ErrorReason.Reason]
        TEXT_MALFORMED: _ClassVar[ErrorReason.Reason]
        FIELD_MISSING: _ClassVar[ErrorReason.Reason]
        FIELD_OUT_OF_RANGE: _ClassVar[ErrorReason.Reason]
        FIELD_INVALID: _ClassVar[ErrorReason.Reason]
        DIMENSION_MISMATCH: _ClassVar[ErrorReason.Reason]
        TEXT_TOO_LONG_FOR_MODEL: _ClassVar[ErrorReason.Reason]
        LANE_UNKNOWN: _ClassVar[ErrorReason.Reason]
        NOT_FOUND: _ClassVar[ErrorReason.Reason]
        DOCUMENT_EMPTY: _ClassVar[ErrorReason.Reason]
        DOCUMENT_TOO_LARGE: _ClassVar[ErrorReason.Reason]
        DOCUMENT_ENCRYPTED: _ClassVar[ErrorReason.Reason]
        DOCUMENT_WITHOUT_TEXT: _ClassVar[ErrorReason.Reason]
        DOCUMENT_DAMAGED: _ClassVar[ErrorReason.Reason]
        DOCUMENT_TOO_COMPLEX: _ClassVar[ErrorReason.Reason]
        STORAGE_FULL: _ClassVar[ErrorReason.Reason]
        DOCUMENT_BUSY: _ClassVar[ErrorReason.Reason]
        SPACE_MISMATCH: _ClassVar[ErrorReason.Reason]
        CONTENT_KEY_MISMATCH: _ClassVar[ErrorReason.Reason]
        MODEL_UNAVAILABLE: _ClassVar[ErrorReason.Reason]
        IDENTITY_INVALID: _ClassVar[ErrorReason.Reason]
        SCOPE_MISSING: _ClassVar[ErrorReason.Reason]
        NOT_IMPLEMENTED: _ClassVar[ErrorReason.Reason]
        DEADLINE_EXCEEDED: _ClassVar[ErrorReason.Reason]
        CALL_ABANDONED: _ClassVar[ErrorReason.Reason]
        SERVICE_BUSY: _ClassVar[ErrorReason.Reason]
        DATABASE_UNAVAILABLE: _ClassVar[ErrorReason.Reason]
        RETRIEVAL_UNAVAILABLE: _ClassVar[ErrorReason.Reason]
        INTERNAL: _ClassVar[ErrorReason.Reason]
        MALFORMED_REQUEST: _ClassVar[ErrorReason.Reason]
        FIELD_UNKNOWN: _ClassVar[ErrorReason.Reason]
        FIELD_DUPLICATE: _ClassVar[ErrorReason.Reason]
        UPGRADE_REFUSED: _ClassVar[ErrorReason.Reason]
        ROUTE_UNKNOWN: _ClassVar[ErrorReason.Reason]
        METHOD_NOT_ALLOWED: _ClassVar[ErrorReason.Reason]
        REQUEST_TIMEOUT: _ClassVar[ErrorReason.Reason]
        REQUEST_TOO_LARGE: _ClassVar[ErrorReason.Reason]
        MEDIA_TYPE_UNSUPPORTED: _ClassVar[ErrorReason.Reason]
        HOST_NOT_ALLOWED: _ClassVar[ErrorReason.Reason]
        PROTOCOL_UNSUPPORTED: _ClassVar[ErrorReason.Reason]
        RATE_LIMITED: _ClassVar[ErrorReason.Reason]
        HEADERS_TOO_LARGE: _ClassVar[ErrorReason.Reason]
        UPSTREAM_UNAVAILABLE: _ClassVar[ErrorReason.Reason]
        UPSTREAM_TIMEOUT: _ClassVar[ErrorReason.Reason]
        ORIGIN_NOT_ALLOWED: _ClassVar[ErrorReason.Reason]
    REASON_UNSPECIFIED: ErrorReason.Reason
    QUESTION_BLANK: ErrorReason.Reason
    QUESTION_TOO_LONG: ErrorReason.Reason
    TEXT_MALFORMED: ErrorReason.Reason
    FIELD_MISSING: ErrorReason.Reason
    FIELD_OUT_OF_RANGE: ErrorReason.Reason
    FIELD_INVALID: ErrorReason.Reason
    DIMENSION_MISMATCH: ErrorReason.Reason
    TEXT_TOO_LONG_FOR_MODEL: ErrorReason.Reason
    LANE_UNKNOWN: ErrorReason.Reason
    NOT_FOUND: ErrorReason.Reason
    DOCUMENT_EMPTY: ErrorReason.Reason
    DOCUMENT_TOO_LARGE: ErrorReason.Reason
    DOCUMENT_ENCRYPTED: ErrorReason.Reason
    DOCUMENT_WITHOUT_TEXT: ErrorReason.Reason
    DOCUMENT_DAMAGED: ErrorReason.Reason
    DOCUMENT_TOO_COMPLEX: ErrorReason.Reason
    STORAGE_FULL: ErrorReason.Reason
    DOCUMENT_BUSY: ErrorReason.Reason
    SPACE_MISMATCH: ErrorReason.Reason
    CONTENT_KEY_MISMATCH: ErrorReason.Reason
    MODEL_UNAVAILABLE: ErrorReason.Reason
    IDENTITY_INVALID: ErrorReason.Reason
    SCOPE_MISSING: ErrorReason.Reason
    NOT_IMPLEMENTED: ErrorReason.Reason
    DEADLINE_EXCEEDED: ErrorReason.Reason
    CALL_ABANDONED: ErrorReason.Reason
    SERVICE_BUSY: ErrorReason.Reason
    DATABASE_UNAVAILABLE: ErrorReason.Reason
    RETRIEVAL_UNAVAILABLE: ErrorReason.Reason
    INTERNAL: ErrorReason.Reason
    MALFORMED_REQUEST: ErrorReason.Reason
    FIELD_UNKNOWN: ErrorReason.Reason
    FIELD_DUPLICATE: ErrorReason.Reason
    UPGRADE_REFUSED: ErrorReason.Reason
    ROUTE_UNKNOWN: ErrorReason.Reason
    METHOD_NOT_ALLOWED: ErrorReason.Reason
    REQUEST_TIMEOUT: ErrorReason.Reason
    REQUEST_TOO_LARGE: ErrorReason.Reason
    MEDIA_TYPE_UNSUPPORTED: ErrorReason.Reason
    HOST_NOT_ALLOWED: ErrorReason.Reason
    PROTOCOL_UNSUPPORTED: ErrorReason.Reason
    RATE_LIMITED: ErrorReason.Reason
    HEADERS_TOO_LARGE: ErrorReason.Reason
    UPSTREAM_UNAVAILABLE: ErrorReason.Reason
    UPSTREAM_TIMEOUT: ErrorReason.Reason
    ORIGIN_NOT_ALLOWED: ErrorReason.Reason
    def __init__(self) -> None: ...
