"""The one line that is kept of a request: everything but what was asked."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum, auto

from services.answer.model import Draft, Findings, Outcome
from services.common.errors import DomainError, Reason

CANCELLED = "CANCELLED"
"""Reason of a request whose caller went away or whose time was over."""


class GuardVerdict(Enum):
    """What the guard made of a question."""

    NOT_SCREENED = auto()
    CLEAN = auto()
    FLAGGED = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of a request; times in milliseconds. There is no field that could hold the question."""

    trace_id: str
    record_time: datetime
    """Time at which the request ended, in UTC."""
    q_hash: str = ""
    """Empty when the question was refused before it could be hashed."""
    q_len: int = 0
    outcome: Outcome | None = None
    """None when the request failed."""
    reason: str = ""
    """Why there is no answer: of the error, or of the gate. Example: `RETRIEVAL_UNAVAILABLE`."""
    guard_verdict: GuardVerdict | None = None
    guard_rules: tuple[str, ...] = ()
    latency_ms: float = 0.0
    embed_ms: float = 0.0
    vector_search_ms: float = 0.0
    lexical_search_ms: float = 0.0
    generate_ms: float = 0.0
    verify_ms: float = 0.0
    chunk_count: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated_cost_usd: float = 0.0
    embedding_model: str = ""
    generator: str = ""


class Trail:
    """Gathers the facts of one request while it runs."""

    def __init__(self, trace_id: str) -> None:
        """Start with nothing but the trace of the request."""
        self._record = Record(trace_id, datetime.min.replace(tzinfo=UTC))

    def screened(self, verdict: GuardVerdict, rules: tuple[str, ...]) -> None:
        """Note what the guard found."""
        self._record = replace(self._record, guard_verdict=verdict, guard_rules=rules)

    def hashed(self, q_hash: str, q_len: int) -> None:
        """Note the hash of the question and its code points."""
        self._record = replace(self._record, q_hash=q_hash, q_len=q_len)

    def found(self, findings: Findings) -> None:
        """Note what the search found and took."""
        self._record = replace(
            self._record,
            chunk_count=len(findings.passages),
            embedding_model=findings.embedding_model,
            embed_ms=findings.embed_ms,
            vector_search_ms=findings.vector_search_ms,
            lexical_search_ms=findings.lexical_search_ms,
        )

    def withheld(self, reason: str) -> None:
        """Note why there is no answer."""
        self._record = replace(self._record, reason=reason)

    def generated(self, draft: Draft, seconds: float) -> None:
        """Note who wrote the draft, what it consumed, and how long it took."""
        self._record = replace(
            self._record,
            generator=draft.generator,
            prompt_tokens=draft.usage.prompt_tokens,
            completion_tokens=draft.usage.completion_tokens,
            estimated_cost_usd=draft.usage.estimated_cost_usd,
            generate_ms=_milliseconds(seconds),
        )

    def verified(self, seconds: float) -> None:
        """Note how long the check of the sentences took."""
        self._record = replace(self._record, verify_ms=_milliseconds(seconds))

    def ended(self, outcome: Outcome, now: datetime, seconds: float) -> Record:
        """Return the record of a good request."""
        return replace(self._record, outcome=outcome, record_time=now, latency_ms=_milliseconds(seconds))

    def failed(self, error: BaseException, now: datetime, seconds: float) -> Record:
        """Return the record of a failed request: no outcome, and the error's reason, never its text."""
        return replace(self._record, reason=_reason(error), record_time=now, latency_ms=_milliseconds(seconds))


def _reason(error: BaseException) -> str:
    if isinstance(error, DomainError):
        return error.reason.value
    return CANCELLED if isinstance(error, asyncio.CancelledError) else Reason.INTERNAL.value


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1_000, 3)
