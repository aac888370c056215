"""What tests of hosted models share: an embedder on a fake endpoint, with pauses too short to wait for."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from services.common.embedding.counters import CL100K, HostedTokenizer
from services.common.embedding.openai_embedder import OpenAiEmbedder
from services.common.embedding.openai_model import Endpoint, HostedModel, Timeouts
from services.common.embedding.patience import Patience
from services.common.settings import Secret
from tests.fakes.openai import KEY, MODEL, FakeOpenAi

QUICK = Patience(attempts=4, seconds=20.0, question_seconds=20.0, first_pause=0.001, longest_pause=0.01)


def hosted(name: str = MODEL, **changes: Any) -> HostedModel:
    return HostedModel(**{"name": name, "tokenizer": HostedTokenizer(CL100K, 8192), **changes})


def endpoint_of(fake: FakeOpenAi, key: str | None = KEY, connections: int = 4) -> Endpoint:
    timeouts = Timeouts(connect=5.0, read=10.0, write=10.0, pool=5.0)
    return Endpoint(fake.url, Secret(key) if key else None, connections, timeouts)


@asynccontextmanager
async def embedding(
    fake: FakeOpenAi,
    *,
    model: HostedModel | None = None,
    patience: Patience = QUICK,
    time_remaining: Callable[[], float] = lambda: 60.0,
    connections: int = 4,
    max_calls: int = 64,
) -> AsyncIterator[OpenAiEmbedder]:
    """Enter an embedder on the fake; what it asked at its start is forgotten."""
    made = OpenAiEmbedder(
        model or hosted(), endpoint_of(fake, connections=connections), patience, time_remaining, max_calls=max_calls
    )
    async with made as embedder:
        fake.forget()
        yield embedder
