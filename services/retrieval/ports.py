"""What the retrieval use-cases need of the world."""

from collections.abc import Sequence
from typing import Protocol

from services.retrieval.model import EmbeddingSpace, Passage, Vector, VectorQuery


class QueryEmbedder(Protocol):
    """Makes the vector of a question; keeps nothing of it."""

    async def embed_query(self, text: str) -> Vector:
        """Return the vector, float32, of the model's dimensions; raise InvalidArgumentError on too many tokens."""
        ...


class PassageStore(Protocol):
    """Passages as the reader role sees them."""

    async def active_space(self) -> EmbeddingSpace:
        """Return the space that is searched; raise UnavailableError when there is none yet."""
        ...

    async def search_vector(self, query: VectorQuery) -> Sequence[Passage]:
        """Return the closest passages of the tenant, similarity never rising, ties by passage id.

        Raises NotFoundError with LANE_UNKNOWN, InvalidArgumentError with DIMENSION_MISMATCH, and AbortedError with
        SPACE_MISMATCH when the space is not the active one (any more).
        """
        ...
