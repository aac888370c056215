"""Domain errors: what went wrong, in terms of the caller, with nothing of the library that noticed it."""

from collections.abc import Mapping
from enum import StrEnum


class Reason(StrEnum):
    """Machine-readable reasons of services, as they stand in `ErrorInfo.reason` and in REST's `reason`.

    What each means, with an example, is said once: in protos/attest/errors/v1/error_reason.proto.
    """

    QUESTION_BLANK = "QUESTION_BLANK"
    QUESTION_TOO_LONG = "QUESTION_TOO_LONG"
    TEXT_MALFORMED = "TEXT_MALFORMED"
    FIELD_MISSING = "FIELD_MISSING"
    FIELD_OUT_OF_RANGE = "FIELD_OUT_OF_RANGE"
    FIELD_INVALID = "FIELD_INVALID"
    LANE_UNKNOWN = "LANE_UNKNOWN"
    DIMENSION_MISMATCH = "DIMENSION_MISMATCH"
    DOCUMENT_EMPTY = "DOCUMENT_EMPTY"
    DOCUMENT_TOO_LARGE = "DOCUMENT_TOO_LARGE"
    DOCUMENT_ENCRYPTED = "DOCUMENT_ENCRYPTED"
    DOCUMENT_WITHOUT_TEXT = "DOCUMENT_WITHOUT_TEXT"
    DOCUMENT_DAMAGED = "DOCUMENT_DAMAGED"
    DOCUMENT_TOO_COMPLEX = "DOCUMENT_TOO_COMPLEX"
    MEDIA_TYPE_UNSUPPORTED = "MEDIA_TYPE_UNSUPPORTED"
    STORAGE_FULL = "STORAGE_FULL"
    DOCUMENT_BUSY = "DOCUMENT_BUSY"
    SPACE_MISMATCH = "SPACE_MISMATCH"
    CONTENT_KEY_MISMATCH = "CONTENT_KEY_MISMATCH"
    TEXT_TOO_LONG_FOR_MODEL = "TEXT_TOO_LONG_FOR_MODEL"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    MODEL_ACCESS_DENIED = "MODEL_ACCESS_DENIED"
    MODEL_UNKNOWN = "MODEL_UNKNOWN"
    MODEL_QUOTA_EXHAUSTED = "MODEL_QUOTA_EXHAUSTED"
    MODEL_REQUEST_REFUSED = "MODEL_REQUEST_REFUSED"
    MODEL_REPLY_INVALID = "MODEL_REPLY_INVALID"
    NOT_FOUND = "NOT_FOUND"
    IDENTITY_INVALID = "IDENTITY_INVALID"
    SCOPE_MISSING = "SCOPE_MISSING"
    NOT_IMPLEMENTED = "NOT_IMPLEMENTED"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    CALL_ABANDONED = "CALL_ABANDONED"
    SERVICE_BUSY = "SERVICE_BUSY"
    DATABASE_UNAVAILABLE = "DATABASE_UNAVAILABLE"
    RETRIEVAL_UNAVAILABLE = "RETRIEVAL_UNAVAILABLE"
    MODEL_BUSY = "MODEL_BUSY"
    MODEL_UNREACHABLE = "MODEL_UNREACHABLE"
    INTERNAL = "INTERNAL"


class DomainError(Exception):
    """A failure with a name; `message` says what is wrong and what to do, and never quotes a user's text."""

    def __init__(self, reason: Reason, message: str, **metadata: str | int | float) -> None:
        """Keep the reason, the message and its variables; `metadata` keys are lowerCamelCase on the wire."""
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.metadata: Mapping[str, str] = {key: str(value) for key, value in metadata.items()}


class InvalidArgumentError(DomainError):
    """The request is wrong whatever the state of the system."""


class NotFoundError(DomainError):
    """The thing asked for is not there, or not for this caller."""


class FailedPreconditionError(DomainError):
    """The system is not in a state for this request; trying again as it is does not help."""


class AbortedError(DomainError):
    """Two callers met; try the whole operation again."""


class ResourceExhaustedError(DomainError):
    """A limit of the caller or of the service is reached."""


class UnavailableError(DomainError):
    """A part that is needed cannot be reached now; try again with a pause."""


class DeadlineExceededError(DomainError):
    """The caller's time is over."""


class UnauthenticatedError(DomainError):
    """The caller's identity cannot be trusted."""


class PermissionDeniedError(DomainError):
    """The caller is known and lacks the right."""


class UnimplementedError(DomainError):
    """Part of the contract that is not served yet."""


class DataLossError(DomainError):
    """Stored data is not what it must be."""
