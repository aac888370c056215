"""The life of a gRPC server: bind, become ready, serve, drain, end."""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from services.common.errors import DomainError, Reason, UnavailableError
from services.common.identity import Scope
from services.common.logs import fault
from services.common.rpc import concerns
from services.common.rpc.around import Around
from services.common.rpc.decoding import ReadableRequests
from services.common.rpc.options import SERVER

_REFLECTION_V1 = "grpc.reflection.v1.ServerReflection"
_FIRST_CHECKS_SECONDS = 0.1
_CHECK_SECONDS = 2.0
_CHECK_LIMIT_SECONDS = 2.0
_FAILURES_BEFORE_NOT_SERVING = 3

_log = logging.getLogger("attest.server")

Ping = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server listens, admits and ends."""

    address: str
    """Host and port to bind. Example: `127.0.0.1:50053`."""
    anonymous_scopes: frozenset[Scope]
    """What a caller without an identity may do."""
    drain_pause_seconds: float
    """Time between saying NOT_SERVING and refusing calls, for balancers to notice."""
    drain_grace_seconds: float
    """Time that running calls get to end."""


@dataclass(frozen=True, slots=True)
class Service:
    """A servicer, how to add it, and what its methods ask of a caller."""

    name: str
    """Full name. Example: `attest.answer.v1.AnswerService`."""
    add: Callable[[grpc.aio.Server], None]
    scopes: Mapping[str, Scope]
    """Scope by short method name. Example: `{"Answer": Scope.ASK}`."""


async def serve(settings: ServerSettings, service: Service, ping: Ping) -> None:
    """Serve until SIGTERM or SIGINT, then drain; a second signal ends the process at once.

    `ping` raises while something that every call needs is missing; the health of the service's name follows it,
    the health of the empty name says only that the event loop lives (F112).
    Raises UnavailableError when the address cannot be bound.
    """
    server = build(settings, service)
    healths = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healths, server)
    service.add(server)
    _add_reflection(server, (service.name, health.SERVICE_NAME, reflection.SERVICE_NAME))
    await healths.set("", health_pb2.HealthCheckResponse.SERVING)
    await healths.set(service.name, health_pb2.HealthCheckResponse.NOT_SERVING)
    _bind(server, settings.address)
    stop = _stop_signal()
    await server.start()
    _log.info("started", extra={"fields": {"address": settings.address}})
    checking = asyncio.create_task(_follow_health(healths, service.name, ping))
    await stop.wait()
    _log.info("draining")
    checking.cancel()
    await healths.enter_graceful_shutdown()
    await asyncio.sleep(settings.drain_pause_seconds)
    await server.stop(settings.drain_grace_seconds)
    _log.info("stopped")


def build(settings: ServerSettings, service: Service) -> grpc.aio.Server:
    """Return a server with the concerns in their order; nothing is added, bound or started yet."""
    required = {f"/{service.name}/{method}": scope for method, scope in service.scopes.items()}
    identity = concerns.identity(settings.anonymous_scopes, required)
    order = (concerns.telemetry, concerns.errors, concerns.deadline, identity)
    interceptors = [*(Around(concern) for concern in order), ReadableRequests()]
    return grpc.aio.server(interceptors=interceptors, options=SERVER)


def _bind(server: grpc.aio.Server, address: str) -> None:
    try:
        bound = server.add_insecure_port(address)
    except RuntimeError:
        bound = 0
    if not bound:
        raise UnavailableError(Reason.INTERNAL, f"Cannot listen on {address}: it is taken or not an address here.")


def _stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            os._exit(1)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    return stop


async def _follow_health(healths: health.aio.HealthServicer, name: str, ping: Ping) -> None:
    failures = _FAILURES_BEFORE_NOT_SERVING
    while True:
        try:
            async with asyncio.timeout(_CHECK_LIMIT_SECONDS):
                await ping()
        except (DomainError, TimeoutError, OSError, grpc.aio.AioRpcError) as error:
            failures += 1
            if failures == _FAILURES_BEFORE_NOT_SERVING:
                _log.warning("not ready", extra={"fields": {"fault": fault(error)}})
        else:
            if failures >= _FAILURES_BEFORE_NOT_SERVING:
                _log.info("ready")
            failures = 0
        ready = failures < _FAILURES_BEFORE_NOT_SERVING
        states = health_pb2.HealthCheckResponse
        await healths.set(name, states.SERVING if ready else states.NOT_SERVING)
        await asyncio.sleep(_CHECK_SECONDS if ready else _FIRST_CHECKS_SECONDS)


def _add_reflection(server: grpc.aio.Server, names: Sequence[str]) -> None:
    """Serve reflection as v1alpha, which the library knows, and as v1, whose messages are the same on the wire."""
    reflection.enable_server_reflection(names, server)
    servicer: Any = reflection.aio.ReflectionServicer(names)
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    generic = grpc.method_handlers_generic_handler(_REFLECTION_V1, {"ServerReflectionInfo": handler})
    server.add_generic_rpc_handlers((generic,))
