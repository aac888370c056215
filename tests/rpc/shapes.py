"""A servicer of the four shapes of a call, and a caller of each."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError

NAME = "attest.test.v1.TestService"
UNREADABLE = b"\xff"
OVERWRITTEN = "Internal error from Core"
METHODS = ("UnaryUnary", "UnaryStream", "StreamUnary", "StreamStream")

T = TypeVar("T")
Act = Callable[[grpc.aio.ServicerContext], Awaitable[bytes]]
Serving = Callable[..., Any]


class ShapesServicer:
    """Answers each of the four shapes with what `act` returns or raises."""

    def __init__(self, act: Act) -> None:
        self._act = act

    async def unary_unary(self, request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        return await self._act(context)

    async def unary_stream(self, request: bytes, context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        yield await self._act(context)

    async def stream_unary(self, requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> bytes:
        async for _ in requests:
            pass
        return await self._act(context)

    async def stream_stream(
        self, requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext
    ) -> AsyncIterator[bytes]:
        async for _ in requests:
            yield await self._act(context)


def read(data: bytes) -> bytes:
    """Read a request as protobuf would, for which one sequence of bytes is no message."""
    if data == UNREADABLE:
        raise DecodeError
    return data


def handlers(servicer: ShapesServicer) -> grpc.GenericRpcHandler:
    return grpc.method_handlers_generic_handler(
        NAME,
        {
            "UnaryUnary": grpc.unary_unary_rpc_method_handler(servicer.unary_unary, read),
            "UnaryStream": grpc.unary_stream_rpc_method_handler(servicer.unary_stream, read),
            "StreamUnary": grpc.stream_unary_rpc_method_handler(servicer.stream_unary, read),
            "StreamStream": grpc.stream_stream_rpc_method_handler(servicer.stream_stream, read),
        },
    )


async def as_told(attempt: Callable[[], Awaitable[T]]) -> T:
    """Make a call, and anew where the client wrote a failure of its own over the server's status.

    Its asyncio side does so now and then when a server refuses a stream that is still being sent (grpc/grpc#36066).
    """
    for _ in range(5):
        try:
            return await attempt()
        except grpc.aio.AioRpcError as error:
            overwritten = error
            if error.details() != OVERWRITTEN:
                raise
    raise overwritten


async def call(
    opened: grpc.aio.Channel, method: str, seconds: float | None = 5.0, request: bytes = b"request", **options: Any
) -> bytes:
    """Call one of the four shapes and return its only response; raises what the server says."""
    return await as_told(lambda: _call(opened, method, seconds, request, **options))


async def _call(opened: grpc.aio.Channel, method: str, seconds: float | None, request: bytes, **options: Any) -> bytes:
    path = f"/{NAME}/{method}"

    async def requests() -> AsyncIterator[bytes]:
        yield request

    if method == "UnaryUnary":
        return bytes(await opened.unary_unary(path)(request, timeout=seconds, **options))
    if method == "StreamUnary":
        return bytes(await opened.stream_unary(path)(requests(), timeout=seconds, **options))
    if method == "UnaryStream":
        stream = opened.unary_stream(path)(request, timeout=seconds, **options)
    else:
        stream = opened.stream_stream(path)(requests(), timeout=seconds, **options)
    responses = [response async for response in stream]
    return b"".join(responses)
