"""Runs the ingest service."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from attest.ingest.v1.ingest_service_pb2_grpc import add_IngestServiceServicer_to_server
from services.common import logs, process
from services.common.embedding.counters import chunk_counter
from services.common.embedding.settings import (
    EmbeddingSettings,
    chosen_embedder,
    tokenizer_source,
    usd_per_million_tokens,
)
from services.common.embedding.space import check_active_space
from services.common.embedding.thresholds import thresholds_of
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.readiness import check_schema
from services.common.postgres.schema import expected_version
from services.common.postgres.settings import DatabaseSettings
from services.common.rpc.context import time_remaining
from services.common.rpc.server import Service, serve
from services.common.service import server_settings
from services.common.settings import Secret, SettingsError, from_environment
from services.common.telemetry import tracing
from services.ingest.document_store import PostgresLibraryStore
from services.ingest.index_building import IndexBuilding
from services.ingest.index_store import PostgresVectorIndex
from services.ingest.ingest import IngestDocument
from services.ingest.lane_store import PostgresLaneStore
from services.ingest.lanes import LanesError, lanes_of
from services.ingest.library import Library
from services.ingest.model import Lane
from services.ingest.reader import BoundedReader
from services.ingest.servicer import SCOPES, SERVICE_NAME, IngestServicer
from services.ingest.space_store import PostgresSpaceStore
from services.ingest.spaces import Spaces
from services.ingest.spool import open_spool
from services.ingest.store import PostgresDocumentStore
from services.ingest.upload import UploadDocument
from services.ingest.vector_cache import PostgresVectorCache


@dataclass(frozen=True, kw_only=True)
class IngestSettings(EmbeddingSettings):
    """What the ingest service reads from the environment."""

    ingest_port: int = field(default=50051, metadata={"least": 1, "most": 65535})
    """Port to listen on."""
    writer_dsn: Secret
    """Database as the writer role. Example: `postgresql://attest_writer:…@db:5432/attest`."""
    content_key: bytes = field(repr=False)
    """Key that ids of documents and passages are made with, hex of 32 bytes or more; it never changes."""
    ingest_connections: int = field(default=8, metadata={"least": 1, "most": 100})
    """Most connections to the database."""
    ingest_embed_threads: int = field(default=1, metadata={"least": 1, "most": 64})
    """Threads that compute vectors, where the model runs in the service."""
    ingest_reading_processes: int = field(default=1, metadata={"least": 1, "most": 64})
    """Processes that read PDFs and long texts at the same time, each of up to 1.5 GB and 60 s of a core; more wait."""
    lanes_file: str | None = None
    """TOML file with the lanes, put into the database at each start; lanes that it does not name stay as they are.
    Example: `examples/lanes/lanes.toml`."""
    ingest_spool_folder: str | None = None
    """Folder that documents lie in while they come in; the system's folder for temporary files without it."""


async def run() -> None:
    """Run until a signal."""
    settings = from_environment(IngestSettings)
    logs.configure("ingest", settings.log_level)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(tracing("ingest", settings.otlp_endpoint, settings.trace_ratio))
        tokenizer = tokenizer_source(settings)
        embedder = await stack.enter_async_context(
            chosen_embedder(settings, settings.ingest_embed_threads, time_remaining)
        )
        folder = Path(settings.ingest_spool_folder) if settings.ingest_spool_folder else None
        tokens = await asyncio.to_thread(chunk_counter, tokenizer)
        reader = await stack.enter_async_context(
            BoundedReader(tokens, tokenizer, processes=settings.ingest_reading_processes, folder=folder)
        )
        database = DatabaseSettings.from_dsn(settings.writer_dsn.reveal())
        limits = PoolLimits(connections=settings.ingest_connections)
        pool = await stack.enter_async_context(open_pool(database, limits, time_remaining))
        store, lanes = PostgresDocumentStore(pool), PostgresLaneStore(pool)
        await check_active_space(store.active_space, embedder.model_name, embedder.dimensions)
        await stack.enter_async_context(IndexBuilding(PostgresVectorIndex(pool, database)))
        ingest_document = IngestDocument(
            store,
            PostgresVectorCache(pool),
            embedder,
            reader,
            model=embedder.model_name,
            content_key=settings.content_key,
            usd_per_million_tokens=usd_per_million_tokens(settings),
        )
        upload_document = UploadDocument(store, ingest_document, partial(open_spool, folder), time.monotonic)
        servicer = IngestServicer(
            ingest_document,
            upload_document,
            Library(PostgresLibraryStore(pool)),
            Spaces(PostgresSpaceStore(pool)),
        )
        schema = expected_version()
        thresholds = thresholds_of(embedder.model_name)
        unplaced = await asyncio.to_thread(lanes_in, settings.lanes_file, tokens.max_tokens)

        async def ping() -> None:
            await check_schema(pool, schema)
            await store.ensure_space(embedder.model_name, embedder.dimensions, thresholds)
            while unplaced:
                await lanes.put(unplaced[-1:])
                unplaced.pop()

        service = Service(SERVICE_NAME, lambda server: add_IngestServiceServicer_to_server(servicer, server), SCOPES)
        await serve(server_settings(settings, settings.ingest_port), service, ping)


def lanes_in(file: str | None, model_tokens: int) -> list[Lane]:
    """Return the lanes that a file describes, none where there is no file; raise SettingsError."""
    if file is None:
        return []
    try:
        return list(lanes_of(Path(file).read_text(encoding="utf-8"), model_tokens))
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"ATTEST_LANES_FILE cannot be read ({type(error).__name__})") from None
    except LanesError as error:
        raise SettingsError(f"ATTEST_LANES_FILE: {error}") from None


def main() -> None:
    """Enter from the command line."""
    process.run(run)


if __name__ == "__main__":
    main()
