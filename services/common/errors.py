"""Domain errors: what went wrong, in terms of the caller, with nothing of the library that noticed it."""

from collections.abc import Mapping
from enum import StrEnum


class Reason(StrEnum):
    """Machine-readable reasons, as they stand in `ErrorInfo.reason` and in REST's `reason`."""

    QUESTION_BLANK = "QUESTION_BLANK"
    """The question is empty or white space. Example: `{"question": "  "}`."""
    QUESTION_TOO_LONG = "QUESTION_TOO_LONG"
    """The question has more than 4,000 characters."""
    TEXT_MALFORMED = "TEXT_MALFORMED"
    """A text holds NUL or a lone surrogate. Example: `"caf\\u0000e"`."""
    FIELD_MISSING = "FIELD_MISSING"
    """A required field is absent. Example: `source_url` of an ingest."""
    FIELD_OUT_OF_RANGE = "FIELD_OUT_OF_RANGE"
    """A value is outside its documented bounds. Example: `top_k` of 0."""
    FIELD_INVALID = "FIELD_INVALID"
    """A value has the wrong form. Example: a `source_url` with the scheme `ftp`."""
    LANE_UNKNOWN = "LANE_UNKNOWN"
    """A lane is not configured. Example: `lanes: ["hr"]` where only `default` exists."""
    DIMENSION_MISMATCH = "DIMENSION_MISMATCH"
    """A vector has not the dimensions of the active embedding space."""
    DOCUMENT_EMPTY = "DOCUMENT_EMPTY"
    """A document holds no text to search."""
    DOCUMENT_TOO_LARGE = "DOCUMENT_TOO_LARGE"
    """A document is over the size that this call takes. Example: a PDF of 2,001 pages."""
    DOCUMENT_ENCRYPTED = "DOCUMENT_ENCRYPTED"
    """A PDF asks for a password; one that opens with an empty password is read."""
    DOCUMENT_WITHOUT_TEXT = "DOCUMENT_WITHOUT_TEXT"
    """No page of a PDF has text. Example: a scan that no character recognition has gone over."""
    DOCUMENT_DAMAGED = "DOCUMENT_DAMAGED"
    """A document cannot be read as what it is said to be. Example: a PDF that was cut off."""
    DOCUMENT_TOO_COMPLEX = "DOCUMENT_TOO_COMPLEX"
    """Reading a document would take more time or memory than is allowed. Example: a decompression bomb."""
    MEDIA_TYPE_UNSUPPORTED = "MEDIA_TYPE_UNSUPPORTED"
    """A document is of a kind that is not read. Example: an upload as `image/png`."""
    STORAGE_FULL = "STORAGE_FULL"
    """There is no room on the disk for the work; nothing was changed."""
    DOCUMENT_BUSY = "DOCUMENT_BUSY"
    """The same document is being ingested by somebody else; try again."""
    SPACE_MISMATCH = "SPACE_MISMATCH"
    """The request names an embedding space that is not the active one; try again."""
    TEXT_TOO_LONG_FOR_MODEL = "TEXT_TOO_LONG_FOR_MODEL"
    """A text has more tokens than the embedding model takes."""
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    """The embedding model's files are absent, damaged or not the expected ones; noticed at start."""
    NOT_FOUND = "NOT_FOUND"
    """The thing asked for is not there, or not for this caller."""
    IDENTITY_INVALID = "IDENTITY_INVALID"
    """The identity that came with the call cannot be trusted."""
    SCOPE_MISSING = "SCOPE_MISSING"
    """The caller lacks the scope that the call needs. Example: `ingest`."""
    NOT_IMPLEMENTED = "NOT_IMPLEMENTED"
    """The call or the field is part of the contract and not served yet."""
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    """The caller's deadline passed before the work was done."""
    CALL_ABANDONED = "CALL_ABANDONED"
    """Something inside was cancelled for a reason of its own; try again."""
    SERVICE_BUSY = "SERVICE_BUSY"
    """A pool or a queue is full; try again."""
    DATABASE_UNAVAILABLE = "DATABASE_UNAVAILABLE"
    """The database cannot be reached, or is not migrated yet."""
    RETRIEVAL_UNAVAILABLE = "RETRIEVAL_UNAVAILABLE"
    """The retrieval service cannot be reached."""
    INTERNAL = "INTERNAL"
    """A fault of ours; the log holds its class and place under the request's trace id."""


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
