"""The search use-case: a question becomes a vector, the vector becomes passages, the question is forgotten."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np

from services.common.errors import AbortedError, InvalidArgumentError, Reason, UnavailableError
from services.common.text import is_blank, is_well_formed
from services.retrieval.model import EmbeddingSpace, Passage, Vector, VectorQuery
from services.retrieval.ports import PassageStore, QueryEmbedder

Number = TypeVar("Number", int, float)

MAX_QUERY = 4000
MAX_LANES = 32
MAX_LANE_NAME = 64
MAX_TOP_K = 1000
MAX_DIMENSIONS = 4000
"""Of any embedding space."""
DEFAULT_TOP_K = 5
SPACE_AGE_S = 5.0
"""Seconds after which the space is looked up anew, since its thresholds may have been set."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A checked search of one tenant, by `query` or by `embedding`; make it with `checked`."""

    tenant: str
    query: str
    embedding: Vector | None
    lanes: Sequence[str]
    top_k: int
    min_similarity: float | None
    space_id: int | None

    @classmethod
    def checked(
        cls,
        *,
        tenant: str,
        query: str,
        embedding: Sequence[float],
        lanes: Sequence[str],
        top_k: int | None,
        min_similarity: float | None,
        space_id: str | None,
    ) -> Self:
        """Return the request; raise InvalidArgumentError that names the field."""
        query = "" if is_well_formed(query) and is_blank(query) else query.strip()
        if bool(query) == bool(embedding):
            raise InvalidArgumentError(
                Reason.QUESTION_BLANK if not query else Reason.FIELD_INVALID,
                "Give either a query that is not blank or an embedding, and not both.",
                field="query",
            )
        _check_query(query)
        _check_lanes(lanes)
        return cls(
            tenant=tenant,
            query=query,
            embedding=_vector(embedding) if embedding else None,
            lanes=tuple(lanes),
            top_k=_in_range("top_k", DEFAULT_TOP_K if top_k is None else top_k, 1, MAX_TOP_K),
            min_similarity=None if min_similarity is None else _in_range("min_similarity", min_similarity, -1, 1),
            space_id=_space_id(space_id),
        )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages, best first, and how they were found."""

    passages: Sequence[Passage]
    space: EmbeddingSpace
    min_similarity: float
    embed_ms: float
    vector_search_ms: float


class Search:
    """Searches the active embedding space."""

    def __init__(
        self, store: PassageStore, embedder: QueryEmbedder, model: str, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """Take the collaborators and the name of the model that `embedder` runs."""
        self._store = store
        self._embedder = embedder
        self._model = model
        self._clock = clock
        self._space: EmbeddingSpace | None = None
        self._looked_up = 0.0

    async def __call__(self, request: SearchRequest) -> SearchResult:
        """Return the closest passages; a space that was changed meanwhile is looked up anew, once."""
        space = await self._known_space()
        self._check_model(request, space)
        started = self._clock()
        vector = request.embedding
        if vector is None:
            vector = await self._embedder.embed_query(request.query)
        embedded = self._clock()
        try:
            passages = await self._find(request, vector, space)
        except AbortedError as error:
            if error.reason is not Reason.SPACE_MISMATCH or request.space_id is not None:
                raise
            space = await self._look_up_space()
            self._check_model(request, space)
            passages = await self._find(request, vector, space)
        found = self._clock()
        return SearchResult(
            passages=passages,
            space=space,
            min_similarity=_threshold(request, space),
            embed_ms=(embedded - started) * 1000 if request.embedding is None else 0.0,
            vector_search_ms=(found - embedded) * 1000,
        )

    def _check_model(self, request: SearchRequest, space: EmbeddingSpace) -> None:
        """Refuse before the question is embedded: a hosted model need not see one that cannot be searched."""
        if request.embedding is None and space.model != self._model:
            raise UnavailableError(
                Reason.SPACE_MISMATCH,
                "The active embedding space was made by another model than this service runs; try again.",
            )

    async def _find(self, request: SearchRequest, vector: Vector, space: EmbeddingSpace) -> Sequence[Passage]:
        return await self._store.search_vector(
            VectorQuery(
                tenant=request.tenant,
                space_id=space.space_id if request.space_id is None else request.space_id,
                vector=vector,
                lanes=request.lanes,
                top_k=request.top_k,
                min_similarity=_threshold(request, space),
            )
        )

    async def _known_space(self) -> EmbeddingSpace:
        if self._space is None or self._clock() - self._looked_up > SPACE_AGE_S:
            return await self._look_up_space()
        return self._space

    async def _look_up_space(self) -> EmbeddingSpace:
        self._space = await self._store.active_space()
        self._looked_up = self._clock()
        return self._space


def _threshold(request: SearchRequest, space: EmbeddingSpace) -> float:
    return space.min_similarity if request.min_similarity is None else request.min_similarity


def _check_query(query: str) -> None:
    if not is_well_formed(query):
        raise InvalidArgumentError(
            Reason.TEXT_MALFORMED, "The query holds NUL or a lone surrogate; take it out.", field="query"
        )
    if len(query) > MAX_QUERY:
        raise InvalidArgumentError(
            Reason.QUESTION_TOO_LONG, f"The query may have {MAX_QUERY} characters.", field="query", most=MAX_QUERY
        )


def _check_lanes(lanes: Sequence[str]) -> None:
    if len(lanes) > MAX_LANES:
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE, f"At most {MAX_LANES} lanes can be named.", field="lanes", most=MAX_LANES
        )
    if any(not 0 < len(lane) <= MAX_LANE_NAME or not is_well_formed(lane) for lane in lanes):
        raise InvalidArgumentError(
            Reason.FIELD_INVALID, f"A lane's name has 1 to {MAX_LANE_NAME} characters.", field="lanes"
        )


def _vector(values: Sequence[float]) -> Vector:
    if len(values) > MAX_DIMENSIONS:
        raise InvalidArgumentError(
            Reason.DIMENSION_MISMATCH, f"The embedding has more than {MAX_DIMENSIONS} dimensions.", field="embedding"
        )
    vector = np.asarray(values, dtype=np.float64)
    if not np.isfinite(vector).all() or not vector.any():
        raise InvalidArgumentError(
            Reason.FIELD_INVALID, "The embedding must be finite and not all zero.", field="embedding"
        )
    # At length one: the database squares in 32 bits, where very short and very long vectors lose their direction.
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _in_range(field: str, value: Number, least: float, most: float) -> Number:
    # NaN fails every comparison, so it is refused too.
    if not (math.isfinite(value) and least <= value <= most):
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE, f"{field} must be {least} to {most}.", field=field, least=least, most=most
        )
    return value


def _space_id(space_id: str | None) -> int | None:
    if space_id is None:
        return None
    if not (space_id.isascii() and space_id.isdigit() and len(space_id) <= 9):
        raise InvalidArgumentError(
            Reason.FIELD_INVALID, "space_id is not the id of a space; leave it out or ask for one.", field="space_id"
        )
    return int(space_id)
