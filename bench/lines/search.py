"""`Search` over gRPC against the same statement as the same role through bare asyncpg, with the same ready vectors."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from attest.retrieval.v1.retrieval_service_pb2 import SearchRequest
from attest.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from bench import stack
from bench.rounds import Way
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.postgres.codecs import register_codecs
from services.common.postgres.connect import connection
from services.common.postgres.settings import Role
from services.common.rpc.client import channel

STATEMENT = "SELECT * FROM attest.search_vector('default', 1, $1, '{}', 5, -1)"
"""As the retrieval service asks; tests/unit/bench compares it with the service's."""


@asynccontextmanager
async def ways() -> AsyncIterator[dict[str, Way]]:
    """Open a stack with the examples; a round is one search, with a question of the demo."""
    async with AsyncExitStack() as opened:
        bench = opened.enter_context(stack.running())
        embedder = await opened.enter_async_context(OnnxEmbedder(packaged_minilm()))
        reader = await opened.enter_async_context(connection(bench.database(Role.READER)))
        stub = RetrievalServiceStub(await opened.enter_async_context(channel(bench.address("RETRIEVAL"))))
        await register_codecs(reader)
        vectors = [await embedder.embed_query(question) for question in stack.QUESTIONS]

        async def floor(number: int) -> None:
            await reader.fetch(STATEMENT, vectors[number % len(vectors)])

        async def by_vector(number: int) -> None:
            vector = vectors[number % len(vectors)]
            await stub.Search(
                SearchRequest(embedding=vector.tolist(), space_id="1", top_k=5, min_similarity=-1), timeout=60
            )

        async def by_question(number: int) -> None:
            question = stack.QUESTIONS[number % len(vectors)]
            await stub.Search(SearchRequest(query=question, top_k=5, min_similarity=-1), timeout=60)

        async def embed_and_floor(number: int) -> None:
            question = stack.QUESTIONS[number % len(vectors)]
            await reader.fetch(STATEMENT, await embedder.embed_query(question))

        yield {
            "asyncpg": floor,
            "gRPC, ready vector": by_vector,
            "model here, then asyncpg": embed_and_floor,
            "gRPC, question": by_question,
        }
