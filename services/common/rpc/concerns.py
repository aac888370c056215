"""The concerns around every call, outermost first: telemetry, errors, deadline, identity."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import grpc
from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from services.common.errors import (
    DeadlineExceededError,
    DomainError,
    PermissionDeniedError,
    Reason,
    UnauthenticatedError,
    UnavailableError,
)
from services.common.identity import DEFAULT_TENANT, Principal, Scope
from services.common.logs import fault
from services.common.rpc import context as call_context
from services.common.rpc.around import Call, Concern
from services.common.rpc.status import abort

IDENTITY_KEY = "x-attest-identity"

_log = logging.getLogger("attest.rpc")
_tracer = trace.get_tracer("attest.rpc")


class InternalError(DomainError):
    """A fault of ours."""


@asynccontextmanager
async def telemetry(call: Call) -> AsyncIterator[None]:
    """Open the call's span, continue the caller's trace, and log one line when it is over."""
    service, _, method = call.method.strip("/").partition("/")
    started = time.perf_counter()
    with _tracer.start_as_current_span(
        call.method.strip("/"),
        context=propagate.extract(_text_metadata(call.context)),
        kind=SpanKind.SERVER,
        attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": method},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        code = grpc.StatusCode.OK
        try:
            yield
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            raise
        except BaseException:
            code = _code(call.context)
            raise
        finally:
            span.set_attribute("rpc.grpc.status_code", code.value[0])
            if code is not grpc.StatusCode.OK:
                span.set_status(Status(StatusCode.ERROR))
            duration_ms = round((time.perf_counter() - started) * 1000, 1)
            _log.info("rpc", extra={"fields": {"rpc": call.method, "code": code.name, "duration_ms": duration_ms}})


@asynccontextmanager
async def errors(call: Call) -> AsyncIterator[None]:
    """Turn whatever a handler raises into a status; what is not a domain error becomes INTERNAL with a fixed text."""
    try:
        yield
    except grpc.aio.AbortError:
        raise
    except DomainError as error:
        await abort(call.context, error)
    except asyncio.CancelledError:
        if _cancelled_from_outside():
            raise
        # Without a status the client would wait for its deadline (F42).
        await abort(call.context, UnavailableError(Reason.CALL_ABANDONED, "The work was interrupted; try again."))
    except Exception as error:  # noqa: BLE001  # the funnel is where everything unknown ends
        _log.error("fault", extra={"fields": {"rpc": call.method, "fault": fault(error)}})
        message = f"Something went wrong here. Report it with trace id {call_context.trace_id()}."
        await abort(call.context, InternalError(Reason.INTERNAL, message, traceId=call_context.trace_id()))


@asynccontextmanager
async def deadline(call: Call) -> AsyncIterator[None]:
    """Bound the call by the caller's deadline, 30 s where there is none, 120 s at most."""
    asked = call.context.time_remaining()
    seconds = call_context.DEFAULT_DEADLINE_SECONDS if asked is None else asked
    seconds = min(seconds, call_context.MAX_DEADLINE_SECONDS)
    call_context.set_deadline(seconds)
    try:
        async with asyncio.timeout(seconds) as bound:
            yield
    except TimeoutError:
        if not bound.expired():
            raise
        raise DeadlineExceededError(
            Reason.DEADLINE_EXCEEDED, "The time given was not enough; allow more or ask for less."
        ) from None


def identity(anonymous_scopes: frozenset[Scope], required: Mapping[str, Scope]) -> Concern:
    """Make the concern that finds out who calls and holds them to the scope of the method.

    `required` maps full method names to scopes; a method that is missing there is refused to everybody.
    """

    @asynccontextmanager
    async def concern(call: Call) -> AsyncIterator[None]:
        if IDENTITY_KEY in _text_metadata(call.context):
            raise UnauthenticatedError(
                Reason.IDENTITY_INVALID,
                f"The {IDENTITY_KEY} of this call is not signed by a key known here; leave it out.",
            )
        principal = Principal(tenant=DEFAULT_TENANT, scopes=anonymous_scopes)
        scope = required.get(call.method)
        if scope not in principal.scopes:
            raise PermissionDeniedError(Reason.SCOPE_MISSING, f"This call needs the scope {scope}.", scope=str(scope))
        call_context.set_principal(principal)
        yield

    return concern


def _text_metadata(context: grpc.aio.ServicerContext) -> dict[str, str]:
    return {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}


def _code(context: grpc.aio.ServicerContext) -> grpc.StatusCode:
    code = context.code()
    if isinstance(code, int):
        return next((known for known in grpc.StatusCode if known.value[0] == code), grpc.StatusCode.UNKNOWN)
    return code or grpc.StatusCode.UNKNOWN


def _cancelled_from_outside() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
