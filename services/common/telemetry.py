"""Traces: a provider for the process, exported only where an endpoint is configured."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

FLUSH_SECONDS = 3.0
"""Longest time that a shutdown waits for spans to leave (F107)."""


@asynccontextmanager
async def tracing(service: str, endpoint: str | None, ratio: float) -> AsyncIterator[None]:
    """Set the process's tracer provider; send sampled spans to the OTLP `endpoint` (gRPC), if there is one.

    `ratio`, 0 to 1, is the share of traces that are kept when the caller has not decided.
    """
    resource = Resource.create({"service.name": f"attest-{service}", "service.namespace": "attest"})
    provider = TracerProvider(resource=resource, sampler=ParentBased(TraceIdRatioBased(ratio)), shutdown_on_exit=False)
    if endpoint is not None:
        # Imported here: it costs a tenth of a second that a process without an endpoint need not pay.
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        exporter = OTLPSpanExporter(endpoint=endpoint, insecure=endpoint.startswith("http://"), timeout=2)
        provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=2048, export_timeout_millis=2000))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        try:
            async with asyncio.timeout(FLUSH_SECONDS):
                await asyncio.to_thread(provider.shutdown)
        except TimeoutError:
            pass
