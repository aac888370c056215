"""Documents with ready vectors into the store, against a bare COPY of the same rows, with and without the index."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

import asyncpg
import numpy as np

from bench.lines.peers import PEERS, peer
from bench.rounds import Way
from services.common.embedding.thresholds import Thresholds
from services.common.postgres.codecs import register_codecs
from services.common.postgres.connect import connection
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.settings import DATABASE, Role
from services.ingest.store import PostgresDocumentStore
from tests.database.samples import Sample, sample
from tests.database.servers import Server, new_server

CHUNKS = 100
"""Of the document of a round."""
DIMENSIONS = 384
_TEXT = "A passage as long as most are, of some hundred words and more. " * 10
_TENANT = "bench"
_CHUNK_COLUMNS = [
    "tenant",
    "document_id",
    "lane",
    "passage_id",
    "ordinal",
    "page",
    "char_start",
    "char_end",
    "token_count",
    "content",
    "heading_path",
]
_VECTOR_COLUMNS = ["chunk_id", "tenant", "lane", "document_id", "embedding", "sentence_vectors"]
_DOCUMENT = """
INSERT INTO attest.documents (
  tenant, document_id, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, chunk_count
) VALUES ($1, $2, 'default', $3, '', 'text/markdown', 1, $4, $4, $5, 0, $6)
"""
_CHUNK_IDS = "SELECT passage_id, chunk_id FROM attest.rag_docs WHERE tenant = $1 AND document_id = $2"


Store = Callable[[Sample], Awaitable[object]]


@asynccontextmanager
async def ways(*, indexed: bool) -> AsyncIterator[dict[str, Way]]:
    """Open a server of the bench's own; a round is one new document of a hundred chunks."""
    async with AsyncExitStack() as opened:
        server = await opened.enter_async_context(_server())
        store, space_id = await opened.enter_async_context(_store(server))
        superuser = await opened.enter_async_context(connection(server.superuser.in_database(DATABASE)))
        await register_codecs(superuser)
        if indexed:
            await store(_document("first"))
            await superuser.fetchval("SELECT attest.build_vector_index($1, 0)", space_id)
        numbers = count()
        yield {
            "COPY": _round(partial(_copied, superuser, space_id), numbers),
            "attest": _round(store, numbers),
        }


@asynccontextmanager
async def ways_of_peers() -> AsyncIterator[dict[str, Way]]:
    """Add both peers on the same server, without an index as well; a round is a hundred texts with their vectors."""
    async with AsyncExitStack() as opened:
        server = await opened.enter_async_context(_server())
        store, _ = await opened.enter_async_context(_store(server))
        async with connection(server.superuser) as superuser:
            await superuser.execute("CREATE DATABASE peers")
        load = {
            "dsn": server.superuser.in_database("peers").dsn,
            "texts": [_TEXT] * CHUNKS,
            "vectors": _vectors(0).tolist(),
            "questions": [[]],
        }
        found = {"attest": _round(store, count())}
        for name in PEERS:
            found[name] = await opened.enter_async_context(peer(name, load, does="add"))
        yield found


def _round(store: Store, numbers: Iterator[int]) -> Way:
    """Return a way that times the storing alone, not the making of what is stored."""

    async def way(number: int) -> float:
        made = _document(f"{next(numbers)}")
        began = time.perf_counter()
        await store(made)
        return (time.perf_counter() - began) * 1000

    return way


@asynccontextmanager
async def _server() -> AsyncIterator[Server]:
    async with new_server() as server, server.running():
        await server.migrate()
        yield server


@asynccontextmanager
async def _store(server: Server) -> AsyncIterator[tuple[Store, int]]:
    async with open_pool(server.role(Role.WRITER), PoolLimits(command_s=60), lambda: 60.0) as pool:
        store = PostgresDocumentStore(pool)
        space_id = await store.ensure_space("of the bench", DIMENSIONS, Thresholds(0.0, 0.0))
        yield lambda made: store.replace(made.document, space_id, made.chunks, made.vectors), space_id


def _document(name: str) -> Sample:
    texts = [f"{name} {number} {_TEXT}" for number in range(CHUNKS)]
    return sample(_TENANT, texts, list(_vectors(hash(name) % 2**32)), name=f"{name}.md")


def _vectors(seed: int) -> Any:
    made = np.random.default_rng(seed).normal(size=(CHUNKS, DIMENSIONS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


async def _copied(superuser: asyncpg.Connection, space_id: int, made: Sample) -> None:
    document, place = made.document, (_TENANT, made.document.document_id)
    async with superuser.transaction():
        await superuser.execute(
            _DOCUMENT, *place, document.source_url, document.content_sha256, space_id, len(made.chunks)
        )
        rows = [
            (*place, "default", key, c.ordinal, c.page, c.char_start, c.char_end, c.token_count, c.content,
             list(c.heading_path))
            for key, c in made.chunks.items()
        ]  # fmt: skip
        await superuser.copy_records_to_table("rag_docs", schema_name="attest", columns=_CHUNK_COLUMNS, records=rows)
        ids = dict(await superuser.fetch(_CHUNK_IDS, *place))
        vectors = [
            (ids[key], _TENANT, "default", document.document_id, embedded.vector, embedded.sentence_vectors)
            for key, embedded in made.vectors.items()
        ]
        await superuser.copy_records_to_table(
            f"embeddings_{space_id}", schema_name="attest", columns=_VECTOR_COLUMNS, records=vectors
        )
