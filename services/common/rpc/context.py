"""What a handler may know of its call: who calls, how much time is left, which trace it belongs to."""

import asyncio
from contextvars import ContextVar

from opentelemetry import trace

from services.common.identity import Principal

DEFAULT_DEADLINE_SECONDS = 30.0
MAX_DEADLINE_SECONDS = 120.0

_principal: ContextVar[Principal] = ContextVar("principal")
_deadline: ContextVar[float] = ContextVar("deadline")


def current_principal() -> Principal:
    """Return the verified caller of this call."""
    return _principal.get()


def set_principal(principal: Principal) -> None:
    """Say who calls, for the rest of this call."""
    _principal.set(principal)


def set_deadline(seconds: float) -> None:
    """Say how many seconds this call has left, counted from now."""
    _deadline.set(asyncio.get_running_loop().time() + seconds)


def time_remaining() -> float:
    """Return the seconds that this call has left, never below zero; the default where no call is running."""
    deadline = _deadline.get(None)
    if deadline is None:
        return DEFAULT_DEADLINE_SECONDS
    return max(0.0, deadline - asyncio.get_running_loop().time())


def trace_id() -> str:
    """Return the id of the current trace, 32 hex digits, zeros where there is none."""
    return trace.format_trace_id(trace.get_current_span().get_span_context().trace_id)
