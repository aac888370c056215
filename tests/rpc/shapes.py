"""A servicer of the four shapes of a call, and a caller of each."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc

NAME = "attest.test.v1.TestService"
METHODS = ("UnaryUnary", "UnaryStream", "StreamUnary", "StreamStream")

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


def handlers(servicer: ShapesServicer) -> grpc.GenericRpcHandler:
    return grpc.method_handlers_generic_handler(
        NAME,
        {
            "UnaryUnary": grpc.unary_unary_rpc_method_handler(servicer.unary_unary),
            "UnaryStream": grpc.unary_stream_rpc_method_handler(servicer.unary_stream),
            "StreamUnary": grpc.stream_unary_rpc_method_handler(servicer.stream_unary),
            "StreamStream": grpc.stream_stream_rpc_method_handler(servicer.stream_stream),
        },
    )


async def call(opened: grpc.aio.Channel, method: str, seconds: float | None = 5.0, **options: Any) -> bytes:
    """Call one of the four shapes and return its only response."""
    path = f"/{NAME}/{method}"

    async def requests() -> AsyncIterator[bytes]:
        yield b"request"

    if method == "UnaryUnary":
        return bytes(await opened.unary_unary(path)(b"request", timeout=seconds, **options))
    if method == "StreamUnary":
        return bytes(await opened.stream_unary(path)(requests(), timeout=seconds, **options))
    if method == "UnaryStream":
        stream = opened.unary_stream(path)(b"request", timeout=seconds, **options)
    else:
        stream = opened.stream_stream(path)(requests(), timeout=seconds, **options)
    responses = [response async for response in stream]
    return b"".join(responses)
