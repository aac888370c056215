"""One way to put a concern around a call, blind to the shape of its messages."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import grpc

OWN_METHODS = "/attest."
"""Prefix of the calls that concerns go around; health and reflection stay bare (F111)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as a concern sees it."""

    method: str
    """Full name. Example: `/attest.answer.v1.AnswerService/Answer`."""
    context: grpc.aio.ServicerContext


Concern = Callable[[Call], AbstractAsyncContextManager[None]]
Deserializer = Callable[[bytes], Any]


class Around(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # grpc ships no types
    """Runs every call of ours inside `concern`, whichever of the four shapes it has."""

    def __init__(self, concern: Concern) -> None:
        """Take the context manager to enter for each call."""
        self._concern = concern

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler | None:
        """Wrap the handler of a call of ours."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or not method.startswith(OWN_METHODS):
            return handler
        return self._wrapped(handler, method)

    def deserializer(self, deserialize: Deserializer | None) -> Deserializer | None:
        """Return what makes a request of its bytes; as it is, unless a subclass has another."""
        return deserialize

    def checked(self, request: Any) -> Any:
        """Return what the handler gets: the request, or the iterator of requests."""
        return request

    def _wrapped(self, handler: grpc.RpcMethodHandler, method: str) -> grpc.RpcMethodHandler:
        shape, factory = _shape(handler)
        behaviour = getattr(handler, shape)

        async def unary(request: Any, context: grpc.aio.ServicerContext) -> Any:
            async with self._concern(Call(method, context)):
                return await behaviour(self.checked(request), context)

        async def stream(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
            async with self._concern(Call(method, context)):
                responses = behaviour(self.checked(request), context)
                if inspect.isawaitable(responses):
                    await responses
                    return
                async for response in responses:
                    yield response

        return factory(
            stream if handler.response_streaming else unary,
            request_deserializer=self.deserializer(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )


def _shape(handler: grpc.RpcMethodHandler) -> tuple[str, Callable[..., grpc.RpcMethodHandler]]:
    if handler.request_streaming and handler.response_streaming:
        return "stream_stream", grpc.stream_stream_rpc_method_handler
    if handler.request_streaming:
        return "stream_unary", grpc.stream_unary_rpc_method_handler
    if handler.response_streaming:
        return "unary_stream", grpc.unary_stream_rpc_method_handler
    return "unary_unary", grpc.unary_unary_rpc_method_handler
