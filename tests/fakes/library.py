"""Stores in memory that keep the same contract as those on Postgres."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from services.common.embedding.thresholds import Thresholds
from services.common.errors import (
    AbortedError,
    InvalidArgumentError,
    NotFoundError,
    Reason,
    UnavailableError,
)
from services.ingest import model as ingest
from services.ingest.spaces import SpaceDescription
from services.retrieval import model as retrieval

Key = tuple[str, str]
"""Tenant and id: nothing in the library is found by less."""


@dataclass
class Shelf:
    """A stored document with what belongs to it."""

    document: ingest.StoredDocument
    chunks: dict[str, ingest.Chunk]


@dataclass
class Library:
    """What both stores share, as the services share a database."""

    lanes: dict[str, ingest.Lane] = field(default_factory=lambda: {"default": ingest.Lane("default", "", 200, 30)})
    spaces: list[retrieval.EmbeddingSpace] = field(default_factory=list)
    active: int | None = None
    shelves: dict[Key, Shelf] = field(default_factory=dict)
    vectors: dict[int, dict[Key, ingest.EmbeddedVector]] = field(default_factory=dict)
    cached: dict[Key, dict[tuple[int, str], ingest.EmbeddedVector]] = field(default_factory=dict)

    def activate(self, model: str, dimensions: int, min_similarity: float = 0.25, gate_start: float = 0.4) -> int:
        """Make a space, unless it is there, and make it the active one."""
        for space in self.spaces:
            if (space.model, space.dimensions) == (model, dimensions):
                self.active = space.space_id
                return space.space_id
        space = retrieval.EmbeddingSpace(len(self.spaces) + 1, model, dimensions, min_similarity, gate_start)
        self.spaces.append(space)
        self.vectors[space.space_id] = {}
        self.active = space.space_id
        return space.space_id

    def active_space(self) -> retrieval.EmbeddingSpace:
        for space in self.spaces:
            if space.space_id == self.active:
                return space
        raise UnavailableError(Reason.DATABASE_UNAVAILABLE, "There is no embedding space yet.")


class FakeDocumentStore:
    """A `DocumentStore` over a library."""

    def __init__(self, library: Library) -> None:
        self.library = library

    async def lane(self, name: str) -> ingest.Lane:
        try:
            return self.library.lanes[name]
        except KeyError:
            raise NotFoundError(Reason.LANE_UNKNOWN, "The lane is not known.") from None

    async def active_space(self) -> ingest.EmbeddingSpace:
        space = self.library.active_space()
        return ingest.EmbeddingSpace(space.space_id, space.model, space.dimensions)

    async def find(self, tenant: str, lane: str, source_url: str) -> ingest.StoredDocument | None:
        for shelf in self.library.shelves.values():
            stored = shelf.document
            if (stored.tenant, stored.lane, stored.source_url) == (tenant, lane, source_url):
                return stored
        return None

    async def embedded_chunks(self, tenant: str, space_id: int, keys: Sequence[str]) -> AbstractSet[str]:
        there = self.library.vectors.get(space_id, {})
        return {key for key in keys if (tenant, key) in there}

    async def replace(
        self,
        document: ingest.NewDocument,
        space_id: int,
        chunks: Mapping[str, ingest.Chunk],
        vectors: Mapping[str, ingest.EmbeddedVector],
    ) -> ingest.Replacement:
        library, tenant = self.library, document.tenant
        if library.active != space_id:
            raise AbortedError(Reason.SPACE_MISMATCH, "The embedding space is not the active one any more.")
        await self.lane(document.lane)
        old = library.shelves.get((tenant, document.document_id))
        if document.based_on is not None and document.based_on != (old.document.version if old else 0):
            raise AbortedError(Reason.DOCUMENT_BUSY, "The document was replaced by somebody else.")
        there = library.vectors[space_id]
        if any(key not in vectors and (tenant, key) not in there for key in chunks):
            raise AbortedError(Reason.DOCUMENT_BUSY, "The document is being ingested by somebody else.")
        gone = set(old.chunks) - set(chunks) if old else set()
        for of_space in library.vectors.values():
            for key in gone:
                of_space.pop((tenant, key), None)
        there.update({(tenant, key): vector for key, vector in vectors.items() if key in chunks})
        kept = len(set(old.chunks) & set(chunks)) if old else 0
        stored = _stored(document, old.document if old else None, space_id, len(chunks))
        library.shelves[tenant, document.document_id] = Shelf(stored, dict(chunks))
        library.cached.pop((tenant, document.document_id), None)
        return ingest.Replacement(stored, len(chunks) - kept, kept, len(gone))


class FakeVectorCache:
    """A `VectorCache` over a library; its days do not pass."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def get(
        self, tenant: str, document_id: str, space_id: int, keys: Sequence[str]
    ) -> Mapping[str, ingest.EmbeddedVector]:
        kept = self._library.cached.get((tenant, document_id), {})
        return {key: kept[space_id, key] for key in keys if (space_id, key) in kept}

    async def put(
        self, tenant: str, document_id: str, space_id: int, vectors: Mapping[str, ingest.EmbeddedVector]
    ) -> None:
        kept = self._library.cached.setdefault((tenant, document_id), {})
        kept.update({(space_id, key): vector for key, vector in vectors.items() if (space_id, key) not in kept})


class FakeLibraryStore:
    """A `LibraryStore` over a library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def document(self, tenant: str, document_id: str) -> ingest.StoredDocument:
        try:
            return self._library.shelves[tenant, document_id].document
        except KeyError:
            raise NotFoundError(Reason.NOT_FOUND, "There is no such document.") from None

    async def documents(
        self, tenant: str, lane: str | None, after: ingest.Position | None, limit: int, prefix: str = ""
    ) -> Sequence[ingest.StoredDocument]:
        if lane is not None and lane not in self._library.lanes:
            raise NotFoundError(Reason.LANE_UNKNOWN, "The lane is not known.")
        found = [shelf.document for (owner, _), shelf in self._library.shelves.items() if owner == tenant]
        found = [document for document in found if lane in (None, document.lane)]
        found = [document for document in found if document.source_url.startswith(prefix)]
        found.sort(key=_place, reverse=True)
        if after is not None:
            found = [document for document in found if _place(document) < (after.updated_at, after.document_id)]
        return found[:limit]

    async def settings(self, lanes: AbstractSet[str]) -> ingest.Settings:
        known = {name: lane for name, lane in self._library.lanes.items() if name in lanes}
        return ingest.Settings(known, self._library.active)

    async def delete(self, tenant: str, document_id: str) -> ingest.Deletion:
        document = await self.document(tenant, document_id)
        keys = [(tenant, key) for key in self._library.shelves.pop((tenant, document_id)).chunks]
        self._library.cached.pop((tenant, document_id), None)
        gone = [of_space.pop(key, None) for of_space in self._library.vectors.values() for key in keys]
        return ingest.Deletion(document, len(keys), sum(vector is not None for vector in gone))

    async def lanes(self, tenant: str, after: str | None, limit: int) -> Sequence[ingest.LaneInUse]:
        documents = [shelf.document for (owner, _), shelf in self._library.shelves.items() if owner == tenant]
        counts = Counter(document.lane for document in documents)
        names = sorted(name for name in self._library.lanes if name > (after or ""))
        return [ingest.LaneInUse(self._library.lanes[name], counts[name]) for name in names[:limit]]


class FakePassageStore:
    """A `PassageStore` over a library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def active_space(self) -> retrieval.EmbeddingSpace:
        return self._library.active_space()

    async def search_vector(self, query: retrieval.VectorQuery) -> Sequence[retrieval.Passage]:
        self._check(query)
        found = [
            _passage(shelf, key, _cosine(query.vector, vector.vector))
            for (tenant, key), vector in self._library.vectors[query.space_id].items()
            for shelf in self._library.shelves.values()
            if tenant == query.tenant == shelf.document.tenant and key in shelf.chunks
            if not query.lanes or shelf.document.lane in query.lanes
        ]
        found.sort(key=lambda passage: (-passage.similarity, passage.passage_id))
        near = [passage for passage in found[: query.top_k] if passage.similarity >= query.min_similarity]
        return [replace(passage, vector_rank=rank) for rank, passage in enumerate(near, start=1)]

    def _check(self, query: retrieval.VectorQuery) -> None:
        if not 1 <= query.top_k <= 1000:
            raise InvalidArgumentError(Reason.FIELD_OUT_OF_RANGE, "top_k must be from 1 to 1000.")
        if query.space_id != self._library.active:
            raise AbortedError(Reason.SPACE_MISMATCH, "The embedding space is not the active one any more.")
        if len(query.vector) != self._library.active_space().dimensions:
            raise InvalidArgumentError(Reason.DIMENSION_MISMATCH, "The embedding has not the right dimensions.")
        if any(lane not in self._library.lanes for lane in query.lanes):
            raise NotFoundError(Reason.LANE_UNKNOWN, "A lane is not known.")


def _place(document: ingest.StoredDocument) -> tuple[datetime, str]:
    return document.updated_at, document.document_id


def _stored(
    document: ingest.NewDocument, old: ingest.StoredDocument | None, space_id: int, chunk_count: int
) -> ingest.StoredDocument:
    now = datetime.now(UTC)
    return ingest.StoredDocument(
        document_id=document.document_id,
        tenant=document.tenant,
        lane=document.lane,
        source_url=document.source_url,
        title=document.title,
        media_type=document.media_type,
        version=old.version + 1 if old else 1,
        content_sha256=document.content_sha256,
        settings_sha256=document.settings_sha256,
        space_id=space_id,
        char_count=sum(len(page.text) for page in document.pages),
        page_count=sum(page.page is not None for page in document.pages) or None,
        chunk_count=chunk_count,
        metadata=dict(document.metadata),
        created_at=old.created_at if old else now,
        updated_at=now,
    )


def _passage(shelf: Shelf, key: str, similarity: float) -> retrieval.Passage:
    document, chunk = shelf.document, shelf.chunks[key]
    return retrieval.Passage(
        passage_id=key,
        document_id=document.document_id,
        lane=document.lane,
        title=document.title,
        source_url=document.source_url,
        version=document.version,
        page=chunk.page,
        heading_path=chunk.heading_path,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        content=chunk.content,
        similarity=similarity,
    )


def _cosine(one: ingest.Vector, other: ingest.Vector) -> float:
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


class FakeSpaceStore:
    """A `SpaceStore` over a library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def spaces(self, after: int, limit: int) -> Sequence[SpaceDescription]:
        return [self._described(space) for space in self._library.spaces if space.space_id > after][:limit]

    async def set_thresholds(self, space_id: int, thresholds: Thresholds) -> SpaceDescription | None:
        for at, space in enumerate(self._library.spaces):
            if space.space_id == space_id:
                changed = replace(space, min_similarity=thresholds.min_similarity, gate_start=thresholds.gate_start)
                self._library.spaces[at] = changed
                return self._described(changed)
        return None

    def _described(self, space: retrieval.EmbeddingSpace) -> SpaceDescription:
        return SpaceDescription(
            space_id=space.space_id,
            model=space.model,
            dimensions=space.dimensions,
            element_type="vector",
            index_kind="hnsw",
            min_similarity=space.min_similarity,
            gate_start=space.gate_start,
            state="ACTIVE" if space.space_id == self._library.active else "INACTIVE",
        )
