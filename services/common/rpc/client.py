"""Channels to other services of the suite."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind

from services.common.rpc.options import CLIENT, service_config

_tracer = trace.get_tracer("attest.rpc")


@asynccontextmanager
async def channel(target: str, idempotent: Sequence[str] = ()) -> AsyncIterator[grpc.aio.Channel]:
    """Open a channel that balances over all addresses of `target` and carries the trace on.

    Calls of the services named in `idempotent` are tried again, within the caller's deadline, when a replica is away.
    Example of a target: `dns:///retrieval.attest.svc.cluster.local.:50052`.
    """
    async with grpc.aio.insecure_channel(
        target, options=(*CLIENT, service_config(idempotent)), interceptors=[_ForwardTrace()]
    ) as opened:
        yield opened


class _ForwardTrace(grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[misc]  # grpc ships no types
    """Puts a client span around the call and its context into the metadata."""

    async def intercept_unary_unary(
        self,
        continuation: Callable[[grpc.aio.ClientCallDetails, Any], Any],
        client_call_details: grpc.aio.ClientCallDetails,
        request: Any,
    ) -> Any:
        """Send the call on with the trace's headers."""
        method = client_call_details.method
        name = (method.decode() if isinstance(method, bytes) else method).strip("/")
        with _tracer.start_as_current_span(
            name, kind=SpanKind.CLIENT, record_exception=False, set_status_on_exception=False
        ):
            carrier: dict[str, str] = {}
            propagate.inject(carrier)
            metadata = client_call_details.metadata or grpc.aio.Metadata()
            for key, value in carrier.items():
                metadata.add(key, value)
            call = await continuation(client_call_details._replace(metadata=metadata), request)
            try:
                await call.code()
            except asyncio.CancelledError:
                call.cancel()
                raise
            return call
