"""What retrieval works with."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.common.vectors import Vector

__all__ = ["EmbeddingSpace", "Passage", "Vector", "VectorQuery"]


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """The space that is searched: its model, the length of its vectors, and the thresholds that fit the model."""

    space_id: int
    model: str
    dimensions: int
    min_similarity: float
    gate_start: float
    """Least cosine of the closest passage for an answer."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable span of a document; offsets in code points of the stored text (of the page)."""

    passage_id: str
    document_id: str
    lane: str
    title: str
    source_url: str
    version: int
    page: int | None
    heading_path: tuple[str, ...]
    char_start: int
    char_end: int
    content: str
    similarity: float
    vector_rank: int | None = None
    lexical_rank: int | None = None


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """One look-up in the vector leg."""

    tenant: str
    space_id: int
    vector: Vector
    lanes: Sequence[str]
    """Lanes to search; all when empty."""
    top_k: int
    min_similarity: float
