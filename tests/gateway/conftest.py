import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from services.cli.stack.gateway import SOURCE
from tests.gateway.envoy import Gateway, eventually, run_gateway
from tests.gateway.upstream import SERVICES, Script, Upstream


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
    upstream_session.script.reception = None
    yield upstream_session
    upstream_session.script.behaviours.clear()
    upstream_session.script.reception = None


@pytest.fixture
def script(upstream: Upstream) -> Script:
    return upstream.script


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


@pytest.fixture
def altered(tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Copy the gateway's sources with one text in one file replaced, and return the folder."""

    def alter(name: str, old: str, new: str) -> Path:
        folder = shutil.copytree(SOURCE, tmp_path / "source")
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
        return folder

    return alter
