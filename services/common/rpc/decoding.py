"""Requests that cannot be read: named like any other bad input, and not as a fault of the library."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.protobuf.message import DecodeError

from services.common.errors import InvalidArgumentError, Reason
from services.common.rpc.around import Around, Call, Deserializer

_UNREADABLE = object()
"""Stands in for a request whose bytes are no message of its type."""


class ReadableRequests(Around):
    """Refuses unreadable requests from inside the concerns; gRPC's own answer is INTERNAL, before any of them."""

    def __init__(self) -> None:
        """Put nothing around the call."""
        super().__init__(_nothing)

    def deserializer(self, deserialize: Deserializer | None) -> Deserializer | None:
        """Return a deserializer that never raises for bytes that somebody sent."""
        if deserialize is None:
            return None

        def read(data: bytes) -> Any:
            try:
                return deserialize(data)
            except DecodeError:
                return _UNREADABLE

        return read

    def checked(self, request: Any) -> Any:
        """Return the request, or the iterator with each of its requests checked."""
        return _each_checked(request) if isinstance(request, AsyncIterator) else _checked(request)


@asynccontextmanager
async def _nothing(call: Call) -> AsyncIterator[None]:
    yield


async def _each_checked(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _checked(request)


def _checked(request: Any) -> Any:
    if request is _UNREADABLE:
        raise InvalidArgumentError(
            Reason.TEXT_MALFORMED,
            "The request is no message of its type: a text is not well-formed UTF-8, or a value is of another kind than"
            " the field's, such as an object where a text belongs.",
        )
    return request
