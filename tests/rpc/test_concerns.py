"""What a caller sees of the concerns around every call, in all four shapes."""

import asyncio
import time

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from services.common.errors import NotFoundError, Reason
from services.common.identity import Scope
from services.common.rpc import context as call_context
from services.common.rpc.status import error_of
from tests.rpc.shapes import METHODS, UNREADABLE, Serving, call

every_shape = pytest.mark.parametrize("method", METHODS)


@every_shape
async def test_a_good_call_returns_its_response(serving: Serving, method: str) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return b"fine"

    async with serving(act) as opened:
        assert await call(opened, method) == b"fine"


@every_shape
async def test_a_domain_error_becomes_its_code_reason_and_message(serving: Serving, method: str) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        raise NotFoundError(Reason.LANE_UNKNOWN, "There is no such lane.", field="lanes")

    async with serving(act) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, method)

    status = status_pb2.Status.FromString(dict(caught.value.trailing_metadata())["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert caught.value.details() == "There is no such lane."
    assert (info.reason, info.domain, dict(info.metadata)) == ("LANE_UNKNOWN", "attest", {"field": "lanes"})


async def test_a_caller_of_ours_gets_the_domain_error_back(serving: Serving) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        raise NotFoundError(Reason.LANE_UNKNOWN, "There is no such lane.", field="lanes")

    async with serving(act) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, "UnaryUnary")

    error = error_of(caught.value)
    assert isinstance(error, NotFoundError)
    assert (error.reason, error.message) == (Reason.LANE_UNKNOWN, "There is no such lane.")


@every_shape
async def test_the_text_of_an_unknown_error_stays_inside(
    serving: Serving, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    """F44: a DSN or a question in an exception must not reach the caller, nor the log."""

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        raise ValueError("postgresql://user:hunter2@host")

    async with serving(act) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, method)

    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert "hunter2" not in str(caught.value) + repr(caught.value.trailing_metadata())
    faults = [record for record in caplog.records if record.getMessage() == "fault"]
    assert faults
    assert faults[0].__dict__["fields"]["fault"]["class"] == "ValueError"
    assert "hunter2" not in caplog.text + repr([record.__dict__ for record in caplog.records])


@every_shape
async def test_a_foreign_cancellation_answers_at_once(serving: Serving, method: str) -> None:
    """F42: without a status the client waits for its deadline."""

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        raise asyncio.CancelledError

    async with serving(act) as opened:
        began = time.monotonic()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, method, seconds=10)

    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert time.monotonic() - began < 5


async def test_a_cancelled_client_cancels_the_work(serving: Serving) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return b""

    async with serving(act) as opened:
        task = asyncio.create_task(call(opened, "UnaryUnary", seconds=30))
        await asyncio.wait_for(begun.wait(), 5)
        task.cancel()
        await asyncio.wait_for(cancelled.wait(), 5)
        with pytest.raises(asyncio.CancelledError):
            await task


@every_shape
async def test_a_call_ends_with_its_deadline(serving: Serving, method: str) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        await asyncio.sleep(20)
        return b""

    async with serving(act) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, method, seconds=0.2)

    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize(("asked", "least", "most"), [(None, 25, 30), (2.0, 0.1, 2), (900.0, 110, 120)])
async def test_a_handler_knows_the_time_it_has(
    serving: Serving, asked: float | None, least: float, most: float
) -> None:
    """F49: absent means 30 s, and nothing is longer than 120 s."""

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return str(call_context.time_remaining()).encode()

    async with serving(act) as opened:
        assert least < float(await call(opened, "UnaryUnary", seconds=asked)) <= most


@every_shape
async def test_an_anonymous_caller_needs_the_scope(serving: Serving, method: str) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return b"fine"

    async with serving(act, frozenset({Scope.ASK}), Scope.INGEST) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, method)

    error = error_of(caught.value)
    assert error is not None
    assert (caught.value.code(), error.reason) == (grpc.StatusCode.PERMISSION_DENIED, Reason.SCOPE_MISSING)


async def test_an_identity_that_nobody_here_signed_is_refused(serving: Serving) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return b"fine"

    async with serving(act) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, "UnaryUnary", metadata=(("x-attest-identity", "forged"),))

    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_the_principal_reaches_the_handler(serving: Serving) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return call_context.current_principal().tenant.encode()

    async with serving(act) as opened:
        assert await call(opened, "UnaryUnary") == b"default"


async def test_five_megabytes_pass_both_ways(serving: Serving) -> None:
    """F33: the limits are the same on both sides."""
    large = b"x" * (5 * 1024 * 1024)

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return large

    async with serving(act) as opened:
        echo = opened.unary_unary("/attest.test.v1.TestService/UnaryUnary")
        assert len(await echo(large, timeout=10)) == len(large)


@every_shape
async def test_bytes_that_are_no_message_are_refused_by_name(serving: Serving, method: str) -> None:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return b"fine"

    async with serving(act) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, method, request=UNREADABLE)

    error = error_of(caught.value)
    assert error is not None
    assert (caught.value.code(), error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, Reason.TEXT_MALFORMED)


async def test_a_trace_goes_through_a_call(serving: Serving) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return call_context.trace_id().encode()

    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")
    async with serving(act) as opened:
        with tracer.start_as_current_span("caller") as span:
            expected = trace.format_trace_id(span.get_span_context().trace_id)
            assert await call(opened, "UnaryUnary") == expected.encode()
