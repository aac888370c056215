"""A long question is embedded whole, window by window."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.errors import Reason, ResourceExhaustedError
from services.retrieval.model import Vector
from services.retrieval.question import WindowedQueryEmbedder


class Characters:
    """Counts visible characters as tokens, takes ten with its special ones, keeps what it was given."""

    max_tokens = 10

    def __init__(self) -> None:
        self.texts: list[str] = []

    def count(self, text: str) -> int:
        return len("".join(text.split()))

    async def embed_query(self, text: str) -> Vector:
        assert self.count(text) <= self.max_tokens - 2
        self.texts.append(text)
        return np.array([1.0, float(len(self.texts))], dtype=np.float32)


class Held(Characters):
    """Answers when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def embed_query(self, text: str) -> Vector:
        self.asked.set()
        await self.go.wait()
        return await super().embed_query(text)


async def test_a_short_question_is_embedded_as_it_is() -> None:
    encoder = Characters()
    vector = await WindowedQueryEmbedder(encoder).embed_query("why me")

    assert encoder.texts == ["why me"]
    assert vector.tolist() == [1.0, 1.0]


async def test_a_long_question_is_the_mean_of_its_windows() -> None:
    encoder = Characters()
    vector = await WindowedQueryEmbedder(encoder).embed_query("aaaa bbbb cccc")

    assert encoder.texts == ["aaaa bbbb ", "cccc"]
    assert vector.dtype == np.float32
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0)
    assert vector[1] / vector[0] == pytest.approx(1.5)


@given(st.text(alphabet=st.sampled_from("ab \n文"), min_size=1, max_size=80))
async def test_nothing_of_a_question_is_left_out(text: str) -> None:
    encoder = Characters()
    await WindowedQueryEmbedder(encoder).embed_query(text)

    assert "".join("".join(encoder.texts).split()) == "".join(text.split())


async def test_long_questions_are_refused_when_too_many_windows_wait() -> None:
    encoder = Held()
    embedder = WindowedQueryEmbedder(encoder, most_windows=3)
    first = asyncio.create_task(embedder.embed_query("aaaa bbbb cccc"))
    await encoder.asked.wait()

    with pytest.raises(ResourceExhaustedError) as caught:
        await embedder.embed_query("aaaa bbbb cccc")
    short = asyncio.create_task(embedder.embed_query("why"))
    encoder.go.set()
    await asyncio.gather(first, short)
    await embedder.embed_query("aaaa bbbb cccc")

    assert caught.value.reason is Reason.SERVICE_BUSY


async def test_a_question_of_many_windows_is_embedded_while_nothing_else_waits() -> None:
    encoder = Characters()
    await WindowedQueryEmbedder(encoder, most_windows=1).embed_query("aaaa bbbb cccc dddd")

    assert encoder.texts == ["aaaa bbbb ", "cccc dddd"]
