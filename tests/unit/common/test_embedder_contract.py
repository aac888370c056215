"""One contract for whatever embeds: the model in the process, and a hosted one behind real HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import numpy as np
import pytest
import pytest_asyncio

from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.embedding.port import TextEmbedder
from services.common.errors import InvalidArgumentError, Reason, ResourceExhaustedError
from tests.fakes.openai import fake_openai
from tests.unit.common.hosted import embedding

CHUNK = "A passage of some length that keeps the model busy for a while. " * 18

Opened = Callable[[int], AbstractAsyncContextManager[TextEmbedder]]
"""Opens an embedder that admits so many calls."""


@asynccontextmanager
async def packaged(max_calls: int) -> AsyncIterator[TextEmbedder]:
    async with OnnxEmbedder(packaged_minilm(), max_calls=max_calls) as embedder:
        yield embedder


@asynccontextmanager
async def hosted(max_calls: int) -> AsyncIterator[TextEmbedder]:
    with fake_openai() as fake:
        async with embedding(fake, max_calls=max_calls) as embedder:
            yield embedder


ADAPTERS = {"packaged": packaged, "hosted": hosted}


@pytest.fixture(scope="module", params=ADAPTERS)
def opened(request: pytest.FixtureRequest) -> Opened:
    return ADAPTERS[request.param]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def embedder(opened: Opened) -> AsyncIterator[TextEmbedder]:
    async with opened(64) as embedder:
        yield embedder


async def test_vectors_are_float32_of_the_length_that_is_told_and_of_norm_one(embedder: TextEmbedder) -> None:
    for text in ("a", "\u0645\u0631\u062d\u0628\u0627", "[SEP] <|endoftext|>", CHUNK):
        vector = await embedder.embed_query(text)

        assert (vector.dtype, vector.shape) == (np.float32, (embedder.dimensions,))
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


async def test_a_vector_stands_at_the_place_of_its_text_whatever_its_length(embedder: TextEmbedder) -> None:
    texts = [CHUNK, "a question", "bananas", CHUNK + "more", "a question"]
    alone = [await embedder.embed_query(text) for text in texts]
    among = await embedder.embed(texts)

    np.testing.assert_allclose([embedded.vector for embedded in among], alone, atol=1e-6)


async def test_no_texts_give_no_vectors(embedder: TextEmbedder) -> None:
    assert await embedder.embed([]) == []


async def test_a_text_of_exactly_the_most_tokens_passes_and_one_more_is_refused(embedder: TextEmbedder) -> None:
    special = 2 if embedder.model_name == "all-MiniLM-L6-v2" else 0
    longest = " ".join(["word"] * (embedder.max_tokens - special))
    assert embedder.count(longest) + special == embedder.max_tokens
    await embedder.embed_query(longest)

    with pytest.raises(InvalidArgumentError) as raised:
        await embedder.embed(["fine", f"{longest} word"])
    assert raised.value.reason is Reason.TEXT_TOO_LONG_FOR_MODEL
    assert raised.value.metadata == {"tokens": str(embedder.max_tokens + 1), "maxTokens": str(embedder.max_tokens)}


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
async def test_malformed_text_is_refused(embedder: TextEmbedder, text: str) -> None:
    for call in (embedder.embed_query(text), embedder.embed(["fine", text])):
        with pytest.raises(InvalidArgumentError) as raised:
            await call
        assert raised.value.reason is Reason.TEXT_MALFORMED


@pytest.mark.parametrize("mark", ["[SEP]", "<|endoftext|>"])
async def test_a_special_token_in_a_text_is_only_text(embedder: TextEmbedder, mark: str) -> None:
    assert embedder.count(mark) > 1


async def test_spans_for_other_texts_are_refused(embedder: TextEmbedder) -> None:
    with pytest.raises(ValueError, match="shorter"):
        await embedder.embed(["one", "two"], [[(0, 3)]])


async def test_too_many_calls_are_refused_and_the_rest_is_served(opened: Opened) -> None:
    async with opened(2) as embedder:
        answers = await asyncio.gather(*(embedder.embed_query("q") for _ in range(3)), return_exceptions=True)

        assert [type(answer) for answer in answers] == [np.ndarray, np.ndarray, ResourceExhaustedError]
        await embedder.embed_query("served again")


async def test_a_cancelled_call_leaves_the_embedder_usable(embedder: TextEmbedder) -> None:
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await embedder.embed([CHUNK] * 50)

    async with asyncio.timeout(10):
        await embedder.embed_query("still there")


async def test_the_event_loop_goes_on_while_texts_are_embedded(embedder: TextEmbedder) -> None:
    turns = 0
    work = asyncio.create_task(embedder.embed([CHUNK] * 4))
    while not work.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns > 100
