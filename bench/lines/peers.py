"""Search by ready vectors against the stores of LangChain and LlamaIndex, on the same vectors and the same server.

The peers live in an environment of their own (`make bench-peers`), so each runs in a process of its own and measures
its own calls: what passes between the processes is in nobody's time.
"""

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from attest.retrieval.v1.retrieval_service_pb2 import SearchRequest
from attest.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from bench import stack
from bench.lines.search import STATEMENT
from bench.rounds import Way
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.postgres.codecs import register_codecs
from services.common.postgres.connect import connection
from services.common.postgres.settings import Role
from services.common.rpc.client import channel

PEERS = ("langchain", "llamaindex")
_ROOT = Path(__file__).resolve().parents[2]
_PYTHON = _ROOT / "build" / "peers" / "bin" / "python"
_WORKER = _ROOT / "bench" / "peers" / "worker.py"
_DATABASE = "peers"
_PATIENCE_S = 300.0


class PeerError(Exception):
    """A peer is not installed or does not answer."""


@asynccontextmanager
async def ways() -> AsyncIterator[dict[str, Way]]:
    """Open a stack with the examples and both peers on copies of its vectors; a round is one search for five."""
    async with AsyncExitStack() as opened:
        bench = opened.enter_context(stack.running())
        embedder = await opened.enter_async_context(OnnxEmbedder(packaged_minilm()))
        reader = await opened.enter_async_context(connection(bench.database(Role.READER)))
        await register_codecs(reader)
        stub = RetrievalServiceStub(await opened.enter_async_context(channel(bench.address("RETRIEVAL"))))
        vectors = [await embedder.embed_query(question) for question in stack.QUESTIONS]

        async def floor(number: int) -> None:
            await reader.fetch(STATEMENT, vectors[number % len(vectors)])

        async def attest(number: int) -> None:
            vector = vectors[number % len(vectors)].tolist()
            await stub.Search(SearchRequest(embedding=vector, space_id="1", top_k=5, min_similarity=-1), timeout=60)

        found: dict[str, Way] = {"asyncpg": floor, "attest": attest}
        async with connection(bench.server()) as server:
            await server.execute(f"CREATE DATABASE {_DATABASE}")
        texts, rows = await bench.passages()
        load = {
            "dsn": bench.server().in_database(_DATABASE).dsn,
            "texts": texts,
            "vectors": rows.tolist(),
            "questions": [vector.tolist() for vector in vectors],
        }
        for name in PEERS:
            found[name] = await opened.enter_async_context(peer(name, load, does="search"))
        yield found


@asynccontextmanager
async def peer(name: str, load: Any, does: str) -> AsyncIterator[Way]:
    """Run the worker of one peer; it measures a `search` or an `add` for each line that it is sent."""
    if not _PYTHON.exists():
        raise PeerError("The peers are not installed; run `make bench-peers`.")
    worker = await asyncio.create_subprocess_exec(_PYTHON, _WORKER, name, does, stdin=PIPE, stdout=PIPE, limit=1 << 20)
    try:
        await _told(worker, json.dumps(load))

        async def act(number: int) -> float:
            return float(await _told(worker, str(number % len(load["questions"]))))

        yield act
    finally:
        worker.kill()
        await worker.wait()


async def _told(worker: asyncio.subprocess.Process, line: str) -> str:
    if worker.stdin is None or worker.stdout is None:
        raise PeerError("The worker has no pipes.")
    worker.stdin.write(line.encode() + b"\n")
    await worker.stdin.drain()
    async with asyncio.timeout(_PATIENCE_S):
        answer = await worker.stdout.readline()
    if not answer:
        raise PeerError(f"A peer ended with exit code {await worker.wait()}; its own words stand above.")
    return answer.decode().strip()
