"""What ingest works with: lanes, documents, chunks, and what became of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import BinaryIO

from services.common.vectors import EmbeddedVector, Vector

__all__ = [
    "Chunk",
    "ChunkedDocument",
    "Content",
    "Deletion",
    "EmbeddedVector",
    "EmbeddingSpace",
    "Lane",
    "LaneInUse",
    "NewDocument",
    "Outcome",
    "PageText",
    "Position",
    "ReadingTask",
    "Replacement",
    "Settings",
    "StoredDocument",
    "Vector",
]


@dataclass(frozen=True, slots=True)
class Lane:
    """A group of documents chunked under the same rules; sizes in tokens of the embedding model."""

    name: str
    description: str
    chunk_tokens: int
    overlap_tokens: int
    title_prefix: bool = True
    """Whether the title is embedded with each chunk."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A citable span: `stored_text[char_start:char_end] == content`, offsets in code points (of the page)."""

    ordinal: int
    content: str
    char_start: int
    char_end: int
    heading_path: tuple[str, ...]
    page: int | None
    token_count: int
    embedding_text: str
    """Text that is embedded: title, headings and derived search text; never shown."""


@dataclass(frozen=True, slots=True)
class Content:
    """A document as it was sent."""

    sha256: bytes
    """32 bytes."""
    size: int
    """In bytes."""
    data: bytes | BinaryIO
    """In memory where it came in one message, else an open file; whoever reads the file goes to its start first."""


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """The space that is searched now."""

    space_id: int
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """What is to be read, and how it is to be cut."""

    media_type: str
    address: str
    """Its last part is the title of a document that has none."""
    title: str | None
    """Title that was given; it goes before the document's own."""
    lane: Lane


@dataclass(frozen=True, slots=True)
class PageText:
    """Stored text of a page; `page` is None for a document without pages."""

    page: int | None
    text: str

    @property
    def has_text(self) -> bool:
        """Tell whether a letter or digit is on it."""
        return any(map(str.isalnum, self.text))


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document that was read and cut; offsets of a chunk are those of the page it names."""

    title: str
    metadata: Mapping[str, str]
    """Scalars of the front matter."""
    warnings: Sequence[str]
    pages: Sequence[PageText]
    chunks: Sequence[Chunk]


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document as it is to be stored."""

    document_id: str
    tenant: str
    lane: str
    source_url: str
    title: str
    media_type: str
    content_sha256: bytes
    """SHA-256 of the content as it was sent, 32 bytes."""
    settings_sha256: bytes
    """SHA-256 over what the chunks depend on beside the content: chunker, lane sizes, title, metadata; 32 bytes."""
    metadata: Mapping[str, str]
    pages: Sequence[PageText]
    based_on: int | None = None
    """Version that it is to follow, 0 for none; not checked where absent."""

    @property
    def pages_with_text(self) -> int | None:
        """Return the pages with a letter or digit; None for a document without pages."""
        numbered = [page for page in self.pages if page.page is not None]
        return sum(page.has_text for page in numbered) if numbered else None

    @property
    def pages_without_text(self) -> int | None:
        """Return the pages without a letter or digit: blank or scanned; None for a document without pages."""
        numbered = [page for page in self.pages if page.page is not None]
        return sum(not page.has_text for page in numbered) if numbered else None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as it stands in the database, without its text."""

    document_id: str
    tenant: str
    lane: str
    source_url: str
    title: str
    media_type: str
    version: int
    content_sha256: bytes
    settings_sha256: bytes
    space_id: int
    """Space that its chunks were embedded in."""
    char_count: int
    page_count: int | None
    chunk_count: int
    metadata: Mapping[str, str]
    created_at: datetime
    updated_at: datetime
    up_to_date: bool = False
    """Whether the same bytes without title and metadata would change nothing now; False where nobody looked."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What documents are made under now."""

    lanes: Mapping[str, Lane]
    space_id: int | None
    """Space that is searched, where there is one."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a replacement changed."""

    document: StoredDocument
    chunks_added: int
    chunks_kept: int
    chunks_removed: int


@dataclass(frozen=True, slots=True)
class Position:
    """Where a document stands in the list of a tenant's documents, which begins with the newest."""

    updated_at: datetime
    document_id: str


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a deletion took away."""

    document: StoredDocument
    """The document as it was."""
    chunks: int
    vectors: int
    """Vectors of all spaces."""


@dataclass(frozen=True, slots=True)
class LaneInUse:
    """A lane, and how many documents one tenant has in it."""

    lane: Lane
    document_count: int


class Outcome(Enum):
    """What an ingest did."""

    CREATED = auto()
    REPLACED = auto()
    UNCHANGED = auto()
