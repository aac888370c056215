"""What a search does with its question, its space, its bounds."""

from collections.abc import Sequence

import numpy as np
import pytest

from services.common.errors import AbortedError, InvalidArgumentError, Reason, UnavailableError
from services.retrieval.model import EmbeddingSpace, Passage, Vector, VectorQuery
from services.retrieval.search import SPACE_AGE_S, Search, SearchRequest

SPACE = EmbeddingSpace(1, "words", 2, 0.25, 0.4)


class OneVector:
    """Embeds everything as the same vector and counts."""

    def __init__(self) -> None:
        self.calls = 0

    async def embed_query(self, text: str) -> Vector:
        self.calls += 1
        return np.array([1, 0], dtype=np.float32)


class ScriptedStore:
    """Has one active space and finds nothing; refuses queries of other spaces."""

    def __init__(self, space: EmbeddingSpace = SPACE) -> None:
        self.space = space
        self.queries: list[VectorQuery] = []
        self.look_ups = 0

    async def active_space(self) -> EmbeddingSpace:
        self.look_ups += 1
        return self.space

    async def search_vector(self, query: VectorQuery) -> Sequence[Passage]:
        self.queries.append(query)
        if query.space_id != self.space.space_id:
            raise AbortedError(Reason.SPACE_MISMATCH, "Not the active one.")
        return []


def request(**changes: object) -> SearchRequest:
    fields: dict[str, object] = {
        "tenant": "default",
        "query": "why",
        "embedding": [],
        "lanes": [],
        "top_k": None,
        "min_similarity": None,
        "space_id": None,
    }
    return SearchRequest.checked(**(fields | changes))  # type: ignore[arg-type]  # wrong types are not what is tested


async def test_defaults_come_from_the_space() -> None:
    store = ScriptedStore()
    result = await Search(store, OneVector(), "words")(request())

    assert (store.queries[0].top_k, store.queries[0].min_similarity) == (5, 0.25)
    assert (result.space, result.min_similarity) == (SPACE, 0.25)


async def test_an_explicit_zero_is_not_the_default() -> None:
    """F53."""
    store = ScriptedStore()
    await Search(store, OneVector(), "words")(request(min_similarity=0.0))

    assert store.queries[0].min_similarity == 0.0


async def test_a_given_vector_is_not_embedded() -> None:
    store, embedder = ScriptedStore(), OneVector()
    result = await Search(store, embedder, "words")(request(query="", embedding=[0.6, 0.8]))

    assert embedder.calls == 0
    assert result.embed_ms == 0
    assert store.queries[0].vector.tolist() == pytest.approx([0.6, 0.8])


async def test_the_space_is_looked_up_once_and_anew_when_it_was_changed() -> None:
    store = ScriptedStore()
    search = Search(store, OneVector(), "words")
    await search(request())
    await search(request())
    store.space = EmbeddingSpace(2, "words", 2, 0.3, 0.4)
    result = await search(request())

    assert store.look_ups == 2
    assert result.space.space_id == 2


async def test_thresholds_that_were_set_meanwhile_hold_within_seconds() -> None:
    store, now = ScriptedStore(), [0.0]
    search = Search(store, OneVector(), "words", lambda: now[0])
    await search(request())
    store.space = EmbeddingSpace(1, "words", 2, 0.5, 0.6)
    now[0] += SPACE_AGE_S
    assert (await search(request())).min_similarity == 0.25
    now[0] += 0.1
    result = await search(request())

    assert (result.min_similarity, result.space.gate_start) == (0.5, 0.6)


async def test_a_space_of_another_model_is_not_searched_with_a_question() -> None:
    """F11."""
    embedder = OneVector()
    with pytest.raises(UnavailableError) as caught:
        await Search(ScriptedStore(), embedder, "another")(request())

    assert embedder.calls == 0
    assert caught.value.reason is Reason.SPACE_MISMATCH


async def test_a_caller_who_names_another_space_is_refused() -> None:
    with pytest.raises(AbortedError) as caught:
        await Search(ScriptedStore(), OneVector(), "words")(request(space_id="7"))

    assert caught.value.reason is Reason.SPACE_MISMATCH


@pytest.mark.parametrize("length", [1e-30, 1.0, 1e19])
def test_a_given_vector_counts_by_its_direction(length: float) -> None:
    """The database squares in 32 bits, where such lengths become nothing or infinite."""
    vector = request(query="", embedding=[0.6 * length, 0.8 * length]).embedding

    assert vector is not None
    assert vector.tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"query": " "}, Reason.QUESTION_BLANK),
        ({"query": "\u200b"}, Reason.QUESTION_BLANK),
        ({"query": "why", "embedding": [1.0]}, Reason.FIELD_INVALID),
        ({"query": "a" * 4001}, Reason.QUESTION_TOO_LONG),
        ({"query": "a\0b"}, Reason.TEXT_MALFORMED),
        ({"query": "\ud800"}, Reason.TEXT_MALFORMED),
        ({"query": "", "embedding": [float("nan"), 1.0]}, Reason.FIELD_INVALID),
        ({"query": "", "embedding": [0.0, 0.0]}, Reason.FIELD_INVALID),
        ({"query": "", "embedding": [1.0] * 4001}, Reason.DIMENSION_MISMATCH),
        ({"lanes": ["x"] * 33}, Reason.FIELD_OUT_OF_RANGE),
        ({"lanes": [""]}, Reason.FIELD_INVALID),
        ({"lanes": ["a\0"]}, Reason.FIELD_INVALID),
        ({"top_k": 0}, Reason.FIELD_OUT_OF_RANGE),
        ({"top_k": 1001}, Reason.FIELD_OUT_OF_RANGE),
        ({"min_similarity": float("nan")}, Reason.FIELD_OUT_OF_RANGE),
        ({"min_similarity": float("inf")}, Reason.FIELD_OUT_OF_RANGE),
        ({"min_similarity": -1.01}, Reason.FIELD_OUT_OF_RANGE),
        ({"space_id": "-1"}, Reason.FIELD_INVALID),
        ({"space_id": "٣"}, Reason.FIELD_INVALID),
    ],
)
def test_what_cannot_be_searched_is_refused_by_name(changes: dict[str, object], reason: Reason) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        request(**changes)

    assert caught.value.reason is reason
