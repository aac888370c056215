"""A warm answer over REST and over gRPC, against the bare embedding of the same question."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2

from attest.answer.v1.answer_service_pb2 import AnswerRequest
from attest.answer.v1.answer_service_pb2_grpc import AnswerServiceStub
from bench import stack
from bench.rounds import Way
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.rpc.client import channel


@asynccontextmanager
async def ways() -> AsyncIterator[dict[str, Way]]:
    """Open a stack with the examples; a round is one question of the demo."""
    async with AsyncExitStack() as opened:
        bench = opened.enter_context(stack.running())
        web = httpx2.AsyncClient(base_url=bench.local.url, trust_env=False, timeout=60)
        client = await opened.enter_async_context(web)
        stub = AnswerServiceStub(await opened.enter_async_context(channel(bench.address("ANSWER"))))
        embedder = await opened.enter_async_context(OnnxEmbedder(packaged_minilm()))

        async def over_rest(number: int) -> None:
            (await client.post("/api/answer", json={"question": _question(number)})).raise_for_status()

        async def over_grpc(number: int) -> None:
            await stub.Answer(AnswerRequest(question=_question(number)), timeout=60)

        async def bare(number: int) -> None:
            await embedder.embed_query(_question(number))

        yield {"bare model": bare, "gRPC": over_grpc, "REST": over_rest}


def _question(number: int) -> str:
    return stack.QUESTIONS[number % len(stack.QUESTIONS)]
