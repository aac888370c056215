"""What the ingest use-case needs of the world."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from services.ingest.model import (
    Chunk,
    ChunkedDocument,
    Content,
    Deletion,
    EmbeddedVector,
    EmbeddingSpace,
    Lane,
    LaneInUse,
    NewDocument,
    Position,
    ReadingTask,
    Replacement,
    Settings,
    StoredDocument,
)


class Embedder(Protocol):
    """Makes vectors of one embedding space."""

    @property
    def batch(self) -> int:
        """Texts that a call should hold: a second or two of work, lost at most when an ingest is cut off."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[EmbeddedVector]:
        """Return one vector per text, in order; raise InvalidArgumentError on a text over the token limit."""
        ...


class TokenCounter(Protocol):
    """Counts tokens as the embedding model does."""

    @property
    def max_tokens(self) -> int:
        """Most tokens that the model takes beside its special ones."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the model's special ones."""
        ...

    def unknown_share(self, text: str) -> float:
        """Return the share of the text's signs, white space aside, that the model reads as an unknown word; 0 to 1."""
        ...


class DocumentReader(Protocol):
    """Makes text and chunks of what was sent."""

    async def read(self, content: Content, task: ReadingTask) -> ChunkedDocument:
        """Return the document with its chunks, none where it holds nothing to search.

        Raises InvalidArgumentError with TEXT_MALFORMED, DOCUMENT_ENCRYPTED, DOCUMENT_WITHOUT_TEXT, DOCUMENT_DAMAGED or
        DOCUMENT_TOO_LARGE, and ResourceExhaustedError with DOCUMENT_TOO_COMPLEX, SERVICE_BUSY or STORAGE_FULL.
        """
        ...


class Spool(Protocol):
    """Keeps a document while it comes in."""

    async def write(self, piece: bytes) -> None:
        """Add a piece; raise ResourceExhaustedError with STORAGE_FULL."""
        ...

    async def content(self) -> Content:
        """Return what was written."""
        ...


class DocumentStore(Protocol):
    """Documents, chunks and vectors of all tenants, each call inside one tenant."""

    async def lane(self, name: str) -> Lane:
        """Return the lane; raise NotFoundError with LANE_UNKNOWN."""
        ...

    async def active_space(self) -> EmbeddingSpace:
        """Return the space that is searched; raise UnavailableError when there is none yet."""
        ...

    async def find(self, tenant: str, lane: str, source_url: str) -> StoredDocument | None:
        """Return the document at that address, if there is one."""
        ...

    async def embedded_chunks(self, tenant: str, space_id: int, keys: Sequence[str]) -> AbstractSet[str]:
        """Return those of `keys` whose chunk is stored with a vector in the space."""
        ...

    async def replace(
        self,
        document: NewDocument,
        space_id: int,
        chunks: Mapping[str, Chunk],
        vectors: Mapping[str, EmbeddedVector],
    ) -> Replacement:
        """Put the document in place of its old version, whole or not at all, in one transaction.

        `chunks` maps chunk key to chunk, in order; `vectors` holds those that are not stored yet. Raises AbortedError
        with DOCUMENT_BUSY when a chunk without a given vector is not stored (any more), when somebody else holds the
        document or has replaced the version that this one is based on, and AbortedError with SPACE_MISMATCH when the
        space is not the active one.
        """
        ...


class VectorCache(Protocol):
    """Vectors of ingests that have not come to their commit; emptied when the document is replaced or deleted."""

    async def get(
        self, tenant: str, document_id: str, space_id: int, keys: Sequence[str]
    ) -> Mapping[str, EmbeddedVector]:
        """Return those vectors of chunk `keys` that an earlier ingest of the document put here."""
        ...

    async def put(self, tenant: str, document_id: str, space_id: int, vectors: Mapping[str, EmbeddedVector]) -> None:
        """Keep the vectors for the next ingest of the document, for a day at most."""
        ...


class LibraryStore(Protocol):
    """What is stored, each call inside one tenant; another tenant's document is as one that is not there."""

    async def document(self, tenant: str, document_id: str) -> StoredDocument:
        """Return the document; raise NotFoundError."""
        ...

    async def documents(
        self, tenant: str, lane: str | None, after: Position | None, limit: int, prefix: str = ""
    ) -> Sequence[StoredDocument]:
        """Return at most `limit` documents that stand behind `after`, or the first ones; newest first.

        Of those alone whose address begins with `prefix`. Raises NotFoundError with LANE_UNKNOWN.
        """
        ...

    async def settings(self, lanes: AbstractSet[str]) -> Settings:
        """Return what documents of those lanes are made under now; a lane that is not there is left out."""
        ...

    async def delete(self, tenant: str, document_id: str) -> Deletion:
        """Delete the document and all that was made of it, in one transaction.

        Raises NotFoundError, and AbortedError with DOCUMENT_BUSY while somebody else writes the document.
        """
        ...

    async def lanes(self, tenant: str, after: str | None, limit: int) -> Sequence[LaneInUse]:
        """Return at most `limit` lanes by name, behind the one named `after`."""
        ...
