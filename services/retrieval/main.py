"""Runs the retrieval service."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from attest.retrieval.v1.retrieval_service_pb2_grpc import add_RetrievalServiceServicer_to_server
from services.common import logs, process
from services.common.embedding.settings import EmbeddingSettings, chosen_embedder
from services.common.embedding.space import check_active_space
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.readiness import check_schema
from services.common.postgres.schema import expected_version
from services.common.postgres.settings import DatabaseSettings
from services.common.rpc.context import time_remaining
from services.common.rpc.server import Service, serve
from services.common.service import server_settings
from services.common.settings import Secret, from_environment
from services.common.telemetry import tracing
from services.retrieval.question import WindowedQueryEmbedder
from services.retrieval.search import Search
from services.retrieval.servicer import SCOPES, SERVICE_NAME, RetrievalServicer
from services.retrieval.store import PostgresPassageStore


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(EmbeddingSettings):
    """What the retrieval service reads from the environment."""

    retrieval_port: int = field(default=50052, metadata={"least": 1, "most": 65535})
    """Port to listen on."""
    reader_dsn: Secret
    """Database as the reader role. Example: `postgresql://attest_reader:…@db:5432/attest`."""
    retrieval_connections: int = field(default=8, metadata={"least": 1, "most": 100})
    """Most connections to the database."""
    retrieval_embed_threads: int = field(default=1, metadata={"least": 1, "most": 64})
    """Threads that compute vectors, where the model runs in the service."""


async def run() -> None:
    """Run until a signal."""
    settings = from_environment(RetrievalSettings)
    logs.configure("retrieval", settings.log_level)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(tracing("retrieval", settings.otlp_endpoint, settings.trace_ratio))
        embedder = await stack.enter_async_context(
            chosen_embedder(settings, settings.retrieval_embed_threads, time_remaining)
        )
        database = DatabaseSettings.from_dsn(settings.reader_dsn.reveal())
        limits = PoolLimits(connections=settings.retrieval_connections)
        pool = await stack.enter_async_context(open_pool(database, limits, time_remaining))
        store = PostgresPassageStore(pool)
        await check_active_space(store.active_space, embedder.model_name, embedder.dimensions)
        servicer = RetrievalServicer(Search(store, WindowedQueryEmbedder(embedder), embedder.model_name))
        schema = expected_version()

        async def ping() -> None:
            await check_schema(pool, schema)
            await store.active_space()

        service = Service(SERVICE_NAME, lambda server: add_RetrievalServiceServicer_to_server(servicer, server), SCOPES)
        await serve(server_settings(settings, settings.retrieval_port), service, ping)


def main() -> None:
    """Enter from the command line."""
    process.run(run)


if __name__ == "__main__":
    main()
