"""How channels between services behave when replicas come, go and dawdle."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest

from services.common.identity import Scope
from services.common.rpc.client import channel
from services.common.rpc.options import CLIENT
from services.common.rpc.server import ServerSettings, Service, build
from tests.rpc.shapes import METHODS, NAME, Act, ShapesServicer, call, handlers

_FOUND_SECONDS = 6.0
"""The longest pause between two tries, and a second for a busy machine."""
_PROXIES = ("http_proxy", "https_proxy", "grpc_proxy")


@asynccontextmanager
async def _replica(act: Act, port: int = 0) -> AsyncIterator[int]:
    """Run one server of ours and yield its port."""
    settings = ServerSettings("127.0.0.1:0", frozenset(Scope), 0.0, 1.0)
    server = build(settings, Service(NAME, lambda _: None, dict.fromkeys(METHODS, Scope.ASK)))
    server.add_generic_rpc_handlers((handlers(ShapesServicer(act)),))
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield bound
    finally:
        await server.stop(0)


@asynccontextmanager
async def _dawdling(port: int, seconds: float) -> AsyncIterator[int]:
    """Run a door that takes connections at once, lets each stand for some seconds, and then leads to `port`."""

    async def pour(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(65536):
            sink.write(piece)
            await sink.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        ways = [asyncio.create_task(pour(reader, inner_writer)), asyncio.create_task(pour(inner_reader, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        inner_writer.close()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as door:
        yield door.sockets[0].getsockname()[1]


def _saying(name: bytes) -> Act:
    async def act(context: grpc.aio.ServicerContext) -> bytes:
        return name

    return act


def _failing(times: int) -> tuple[Act, list[None]]:
    """Return what answers UNAVAILABLE some times and then well, and a list that grows with every call of it."""
    calls: list[None] = []

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        calls.append(None)
        if len(calls) <= times:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "away")
        return b"fine"

    return act, calls


async def _first_good(opened: grpc.aio.Channel) -> bytes:
    while True:
        try:
            return await call(opened, "UnaryUnary", seconds=1)
        except grpc.aio.AioRpcError:
            await asyncio.sleep(0.02)


async def test_calls_are_spread_over_all_replicas() -> None:
    """F37: a channel that stays with one connection leaves the other replica idle."""
    async with (
        _replica(_saying(b"a")) as first,
        _replica(_saying(b"b")) as second,
        channel(f"ipv4:127.0.0.1:{first},127.0.0.1:{second}") as opened,
    ):
        async with asyncio.timeout(5):
            # The first calls may find only one of the two connected.
            while {await call(opened, "UnaryUnary") for _ in range(4)} != {b"a", b"b"}:
                pass
        heard = Counter([await call(opened, "UnaryUnary") for _ in range(40)])

    assert heard == {b"a": 20, b"b": 20}


async def test_a_replica_that_is_back_is_found_by_the_same_channel() -> None:
    """F38: calls that failed meanwhile must not put the channel to sleep."""
    async with AsyncExitStack() as stack:
        async with _replica(_saying(b"before")) as port:
            opened = await stack.enter_async_context(channel(f"dns:///127.0.0.1:{port}"))
            assert await call(opened, "UnaryUnary") == b"before"
        for _ in range(3):
            with pytest.raises(grpc.aio.AioRpcError):
                await call(opened, "UnaryUnary", seconds=0.3)

        await stack.enter_async_context(_replica(_saying(b"after"), port))
        async with asyncio.timeout(_FOUND_SECONDS):
            assert await _first_good(opened) == b"after"


async def test_a_replica_that_is_away_is_tried_again_within_tenths_of_a_second() -> None:
    """F38: the pause that grpc begins with, a second, is long for a pod that is being replaced."""
    tries: list[float] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tries.append(time.monotonic())
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as door:
        port = door.sockets[0].getsockname()[1]
        async with channel(f"dns:///127.0.0.1:{port}") as opened, asyncio.timeout(10):
            while len(tries) < 4:
                opened.get_state(try_to_connect=True)
                await asyncio.sleep(0.02)

    assert tries[3] - tries[0] < 2.5


def test_no_replica_waits_longer_than_five_seconds_for_the_next_try() -> None:
    """F38: by itself the pause grows to two minutes."""
    assert dict(CLIENT)["grpc.max_reconnect_backoff_ms"] == 5_000


async def test_a_replica_that_dawdles_is_waited_for() -> None:
    """F38: one that takes a second to say its first word is busy, not away."""
    async with (
        _replica(_saying(b"fine")) as port,
        _dawdling(port, 1.0) as door,
        channel(f"dns:///127.0.0.1:{door}") as opened,
    ):
        assert await call(opened, "UnaryUnary") == b"fine"


async def test_an_idempotent_call_is_tried_again_when_a_replica_is_away() -> None:
    """F38."""
    act, calls = _failing(times=2)
    async with _replica(act) as port, channel(f"dns:///127.0.0.1:{port}", [NAME]) as opened:
        assert await call(opened, "UnaryUnary") == b"fine"

    assert len(calls) == 3


async def test_a_call_that_may_have_an_effect_is_not_tried_again() -> None:
    """F38."""
    act, calls = _failing(times=1)
    async with _replica(act) as port, channel(f"dns:///127.0.0.1:{port}") as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, "UnaryUnary")

    assert (caught.value.code(), len(calls)) == (grpc.StatusCode.UNAVAILABLE, 1)


@pytest.mark.parametrize("variable", _PROXIES)
async def test_no_proxy_of_the_environment_comes_between_services(
    monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int, variable: str
) -> None:
    """F41: the proxy named here is a closed port."""
    for name in (*_PROXIES, "no_proxy", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, f"http://127.0.0.1:{unused_tcp_port}")
    async with _replica(_saying(b"fine")) as port, channel(f"dns:///127.0.0.1:{port}") as opened:
        assert await call(opened, "UnaryUnary") == b"fine"


async def test_a_port_that_is_taken_is_not_shared_in_silence() -> None:
    """Without the option the kernel would deal the calls out to both."""
    async with _replica(_saying(b"first")) as port:
        with pytest.raises(RuntimeError, match="Failed to bind"):
            async with _replica(_saying(b"second"), port):
                pass
