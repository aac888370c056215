"""Failures of a hosted model by status and code, never by the endpoint's words: those may quote the key or the text."""

from services.common.errors import (
    DataLossError,
    DeadlineExceededError,
    DomainError,
    FailedPreconditionError,
    InvalidArgumentError,
    Reason,
    ResourceExhaustedError,
)

_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_PASSING_STATUSES = frozenset({408, 409, 425})


class AttemptError(Exception):
    """One attempt that failed: what it means to the caller, and whether another one can help."""

    def __init__(self, error: DomainError, *, is_passing: bool, pause: float | None = None) -> None:
        """Take the error, and the seconds that the endpoint asked to wait for."""
        super().__init__(error.message)
        self.error = error
        self.is_passing = is_passing
        self.pause = pause


def refused(status: int, codes: frozenset[str], pause: float | None = None) -> AttemptError:
    """Return the failure of a reply with `status`, 300 or more; `codes` are `code` and `type` of its `error`."""
    if codes & _QUOTA:
        return AttemptError(_quota(), is_passing=False)
    if status == 429:
        return AttemptError(_busy(), is_passing=True, pause=pause)
    if status >= 500 or status in _PASSING_STATUSES:
        return AttemptError(_unreachable(), is_passing=True, pause=pause)
    return AttemptError(_permanent(status, codes), is_passing=False)


def unanswered() -> AttemptError:
    """Return the failure of a call that met nobody, or nobody in time."""
    return AttemptError(_unreachable(), is_passing=True)


def untrusted() -> AttemptError:
    """Return the failure of a call to an endpoint whose certificate nobody vouches for."""
    error = FailedPreconditionError(
        Reason.MODEL_UNREACHABLE,
        "The certificate of the embedding endpoint is not trusted here; name a file with its issuer in SSL_CERT_FILE.",
    )
    return AttemptError(error, is_passing=False)


def unreadable() -> AttemptError:
    """Return the failure of a reply that breaks off or is no JSON: the next one may be whole."""
    return AttemptError(_unreachable(), is_passing=True)


def unusable(what: str) -> AttemptError:
    """Return the failure of a whole reply whose vectors cannot be stored; `what` is wrong with it, in words of ours."""
    error = DataLossError(
        Reason.MODEL_REPLY_INVALID,
        f"The embedding endpoint's reply cannot be used: {what}. Check ATTEST_EMBEDDING_MODEL and the endpoint.",
    )
    return AttemptError(error, is_passing=False)


def _permanent(status: int, codes: frozenset[str]) -> DomainError:
    if status in (401, 403) and "model_not_found" not in codes:
        return FailedPreconditionError(
            Reason.MODEL_ACCESS_DENIED, "The embedding endpoint refuses the key; check ATTEST_EMBEDDING_API_KEY."
        )
    if status == 404 or "model_not_found" in codes:
        return FailedPreconditionError(
            Reason.MODEL_UNKNOWN,
            "The embedding endpoint does not know the model; check ATTEST_EMBEDDING_MODEL and its base URL.",
        )
    if "context_length_exceeded" in codes or status == 413:
        return InvalidArgumentError(
            Reason.TEXT_TOO_LONG_FOR_MODEL, "The text is longer than the embedding model takes; shorten it."
        )
    return FailedPreconditionError(
        Reason.MODEL_REQUEST_REFUSED,
        f"The embedding endpoint refuses the request with status {status}; check the settings of the model, "
        "ATTEST_EMBEDDING_DIMENSIONS among them.",
        status=status,
    )


def _quota() -> DomainError:
    return FailedPreconditionError(
        Reason.MODEL_QUOTA_EXHAUSTED, "The quota of the embedding endpoint's account is used up; see its billing."
    )


def _busy() -> DomainError:
    return ResourceExhaustedError(
        Reason.MODEL_BUSY, "The embedding endpoint takes no more requests for now; try again after a pause."
    )


def _unreachable() -> DomainError:
    # Not UnavailableError: channels and gateway try that again, and tries multiply (F74).
    return DeadlineExceededError(
        Reason.MODEL_UNREACHABLE, "The embedding endpoint did not answer, or not with a whole reply; try again."
    )
