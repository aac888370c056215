"""A server with every concern around a servicer of four shapes, reached over a real channel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from services.common.identity import Scope
from services.common.rpc.client import channel
from services.common.rpc.server import ServerSettings, Service, build
from tests.rpc.shapes import METHODS, NAME, Act, Serving, ShapesServicer, handlers


@pytest.fixture
def serving() -> Serving:
    @asynccontextmanager
    async def start(
        act: Act, anonymous_scopes: frozenset[Scope] = frozenset(Scope), scope: Scope = Scope.ASK
    ) -> AsyncIterator[grpc.aio.Channel]:
        settings = ServerSettings("127.0.0.1:0", anonymous_scopes, 0.0, 1.0)
        service = Service(NAME, lambda _: None, dict.fromkeys(METHODS, scope))
        server = build(settings, service)
        server.add_generic_rpc_handlers((handlers(ShapesServicer(act)),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            async with channel(f"dns:///127.0.0.1:{port}") as opened:
                yield opened
        finally:
            await server.stop(0)

    return start
