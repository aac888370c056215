import asyncio
import json
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as grpc_health
from grpc_reflection.v1alpha import reflection

from attest.answer.v1 import answer_service_pb2 as answer_pb
from attest.answer.v1 import answer_service_pb2_grpc as answer_grpc
from attest.ingest.v1 import ingest_service_pb2 as ingest_pb
from attest.ingest.v1 import ingest_service_pb2_grpc as ingest_grpc
from attest.retrieval.v1 import retrieval_service_pb2 as retrieval_pb
from attest.retrieval.v1 import retrieval_service_pb2_grpc as retrieval_grpc
from services.cli.stack.gateway import GatewaySettings, command, render

SERVICES = {
    "answer": "attest.answer.v1.AnswerService",
    "retrieval": "attest.retrieval.v1.RetrievalService",
    "ingest": "attest.ingest.v1.IngestService",
}
REPLIES: dict[str, Any] = {"Search": retrieval_pb.SearchResponse}
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
DEADLINE_S = 10.0
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading the system's certificates costs each client 0.1 s
Behaviour = Callable[[Any, grpc.aio.ServicerContext], Awaitable[Any]]


@dataclass
class Call:
    """What reached a service."""

    method: str
    request: Any
    metadata: dict[str, str]
    seconds_left: float | None


@dataclass
class Script:
    """What the services answer, and what reached them."""

    calls: list[Call] = field(default_factory=list)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)

    async def play(self, method: str, default: Any, request: Any, context: grpc.aio.ServicerContext) -> Any:
        metadata = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
        self.calls.append(Call(method, request, metadata, context.time_remaining()))
        behaviour = self.behaviours.get(method)
        return await behaviour(request, context) if behaviour else default

    def fail(self, method: str, code: grpc.StatusCode, message: str, reason: str | None = None) -> None:
        """Make a method answer with a status, and with our ErrorInfo when there is a reason."""

        async def behave(_: Any, context: grpc.aio.ServicerContext) -> Any:
            status = Status(code=code.value[0], message=message)
            if reason:
                detail = AnyMessage()
                detail.Pack(ErrorInfo(reason=reason, domain="attest", metadata={"limit": 'a "quoted" value'}))
                status.details.append(detail)
            trailers = (("grpc-status-details-bin", status.SerializeToString()),) if reason else ()
            await context.abort(code, message, trailers)

        self.behaviours[method] = behave

    def reply(self, method: str, **fields: Any) -> None:
        """Make a method answer with these fields of its response."""

        async def behave(_: Any, __: Any) -> Any:
            return REPLIES[method](**fields)

        self.behaviours[method] = behave

    def hang(self, method: str) -> None:
        """Make a method answer never."""

        async def behave(_: Any, __: Any) -> Any:
            await asyncio.Event().wait()

        self.behaviours[method] = behave


class Answer(answer_grpc.AnswerServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def Answer(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        reply = answer_pb.AnswerResponse(outcome=answer_pb.AnswerOutcome.ANSWERED, answer="Yes. [1]")
        return await self.script.play("Answer", reply, request, context)


class Retrieval(retrieval_grpc.RetrievalServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def Search(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("Search", retrieval_pb.SearchResponse(), request, context)

    async def EmbedTexts(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("EmbedTexts", retrieval_pb.EmbedTextsResponse(), request, context)


class Ingest(ingest_grpc.IngestServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def IngestDocument(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("IngestDocument", ingest_pb.IngestDocumentResponse(), request, context)


@dataclass
class Upstream:
    """The three scripted services, each with its port and its health."""

    script: Script
    ports: dict[str, int] = field(default_factory=dict)
    health: dict[str, grpc_health.HealthServicer] = field(default_factory=dict)
    servers: list[grpc.aio.Server] = field(default_factory=list)

    async def start(self, name: str) -> None:
        server = grpc.aio.server(options=[("grpc.max_receive_message_length", 32 * 1024 * 1024)])
        answer_grpc.add_AnswerServiceServicer_to_server(Answer(self.script), server)
        retrieval_grpc.add_RetrievalServiceServicer_to_server(Retrieval(self.script), server)
        ingest_grpc.add_IngestServiceServicer_to_server(Ingest(self.script), server)
        self.health[name] = grpc_health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self.health[name], server)
        await self.set_health(name, SERVING)
        reflection.enable_server_reflection((SERVICES[name], reflection.SERVICE_NAME), server)
        self.ports[name] = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        self.servers.append(server)

    @asynccontextmanager
    async def out_of_service(self, name: str) -> AsyncIterator[None]:
        """Let a service say that it does not serve."""
        await self.set_health(name, NOT_SERVING)
        try:
            yield
        finally:
            await self.set_health(name, SERVING)

    async def set_health(self, name: str, status: int) -> None:
        await self.health[name].set(SERVICES[name], status)


@pytest.fixture(scope="session")
async def upstream_session() -> AsyncIterator[Upstream]:
    upstream = Upstream(Script())
    for name in SERVICES:
        await upstream.start(name)
    yield upstream
    await asyncio.gather(*(server.stop(0) for server in upstream.servers))


@pytest.fixture
def upstream(upstream_session: Upstream) -> Iterator[Upstream]:
    upstream_session.script.calls.clear()
    upstream_session.script.behaviours.clear()
    yield upstream_session
    upstream_session.script.behaviours.clear()


@pytest.fixture
def script(upstream: Upstream) -> Script:
    return upstream.script


@dataclass
class Gateway:
    """A running Envoy."""

    settings: GatewaySettings
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def port(self) -> int:
        return self.settings.http_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def send(
        self, method: str, path: str, *, client_address: str | None = None, **arguments: Any
    ) -> httpx2.Response:
        transport = httpx2.AsyncHTTPTransport(local_address=client_address, verify=NO_TLS)
        async with httpx2.AsyncClient(base_url=self.url, transport=transport, timeout=DEADLINE_S) as client:
            return await client.request(method, path, **arguments)

    async def get(self, path: str, **arguments: Any) -> httpx2.Response:
        return await self.send("GET", path, **arguments)

    async def status_is(self, path: str, status: int) -> bool:
        return bool((await self.get(path)).status_code == status)

    async def admin(self, method: str, path: str) -> httpx2.Response:
        async with httpx2.AsyncClient(trust_env=False, verify=NO_TLS, timeout=DEADLINE_S) as client:
            return await client.request(method, f"http://127.0.0.1:{self.settings.admin_port}{path}")

    async def post(self, path: str, body: Any, **arguments: Any) -> httpx2.Response:
        """Post an object as JSON, or a text or bytes as they are."""
        content = body if isinstance(body, str | bytes) else json.dumps(body)
        headers = {"content-type": "application/json", **arguments.pop("headers", {})}
        return await self.send("POST", path, content=content, headers=headers, **arguments)

    async def raw(self, request: bytes) -> bytes:
        """Send bytes on a connection of its own and return all that comes back until it is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            return await asyncio.wait_for(reader.read(), DEADLINE_S)
        finally:
            writer.close()
            await writer.wait_closed()

    def channel(self, **arguments: Any) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", **arguments)

    async def grpc(
        self, path: str, request: Any = None, *, options: Any = None, deadline: float = 5, **arguments: Any
    ) -> tuple[str, str]:
        """Call a unary method by its path and return the status and its text."""
        encoded = request.SerializeToString() if request else b""
        async with self.channel(options=options) as channel:
            try:
                await channel.unary_unary("/" + path)(encoded, timeout=deadline, **arguments)
            except grpc.aio.AioRpcError as error:
                return error.code().name, error.details() or ""
        return "OK", ""


async def eventually(check: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the check holds, or fail after the deadline."""
    async with asyncio.timeout(DEADLINE_S):
        while not await check():  # noqa: ASYNC110  # what is waited for happens in another process
            await asyncio.sleep(0.05)


@pytest.fixture(scope="session")
def wait_until() -> Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]:
    return eventually


@pytest.fixture(scope="session")
def failure() -> Callable[[httpx2.Response, int, str, str], None]:
    """Check that a response is a failure in the one shape."""

    def check(response: httpx2.Response, status: int, code: str, reason: str) -> None:
        assert response.status_code == status, response.text
        assert response.headers["content-type"] == "application/json"
        body = response.json()
        assert body.keys() == {"error", "code", "reason"}
        assert (body["code"], body["reason"]) == (code, reason)
        assert body["error"]

    return check


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def run_gateway(upstream: Upstream, folder: Path, **changes: Any) -> AsyncIterator[Gateway]:
    ports = {f"{name}_port": port for name, port in upstream.ports.items()}
    settings = GatewaySettings(http_port=free_port(), admin_port=free_port(), **ports, **changes)
    config = render(settings, folder)
    with (folder / "gateway.log").open("wb") as log:
        process = subprocess.Popen(command(config), cwd=folder, stderr=log)  # noqa: ASYNC220  # returns at once
    gateway = Gateway(settings, folder, process)
    try:
        await eventually(lambda: ready(gateway))
        yield gateway
    finally:
        process.terminate()
        code = await asyncio.to_thread(process.wait, DEADLINE_S)
    assert code == 0


async def ready(gateway: Gateway) -> bool:
    assert gateway.process.poll() is None, (gateway.folder / "gateway.log").read_text()
    try:
        return (await gateway.get("/readyz")).status_code == 200
    except httpx2.TransportError:
        return False


@pytest.fixture(scope="session")
async def gateway_session(
    upstream_session: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    async for gateway in run_gateway(
        upstream_session, folder, rate_limit_per_minute=100_000, allowed_hosts=("attest.example",)
    ):
        yield gateway


@pytest.fixture
async def gateway(gateway_session: Gateway, upstream: Upstream) -> Gateway:
    return gateway_session


@pytest.fixture
async def limited_gateway(upstream: Upstream, tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway with three questions and five documents a minute."""
    async for gateway in run_gateway(upstream, tmp_path, rate_limit_per_minute=3, documents_per_minute=5):
        yield gateway
