"""A real Envoy in front of the scripted services, and ways to speak to it."""

import asyncio
import json
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import httpx2

from services.cli.stack.gateway import GatewaySettings, command, render
from tests.gateway.upstream import Upstream

DEADLINE_S = 10.0
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading the system's certificates costs each client 0.1 s


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
        return (await gateway.get("/readyz", headers={"host": "localhost"})).status_code == 200
    except httpx2.TransportError:
        return False
