"""What ingest leans on, in memory: words for tokens, lengths for vectors, reading on the spot."""

import asyncio
import hashlib
import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np

from services.ingest.model import ChunkedDocument, Content, EmbeddedVector, ReadingTask
from services.ingest.pdf import PdfLimits
from services.ingest.reader import read_here


class Words:
    """Counts words as tokens."""

    max_tokens = 254

    def count(self, text: str) -> int:
        return len(text.split())

    def unknown_share(self, text: str) -> float:
        return 0.0


class CountingEmbedder:
    """Makes a vector of each text and remembers the texts; may be told to be cut off after some."""

    batch = 32

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.batches: list[int] = []
        self.cut_off_after: int | None = None

    async def embed(self, texts: Sequence[str]) -> Sequence[EmbeddedVector]:
        if self.cut_off_after is not None and len(self.texts) >= self.cut_off_after:
            raise asyncio.CancelledError
        self.texts += texts
        self.batches.append(len(texts))
        return [EmbeddedVector(np.array([len(text), 1], dtype=np.float32), None) for text in texts]


class ReaderHere:
    """A `DocumentReader` on the spot."""

    def __init__(self) -> None:
        self.reads = 0

    async def read(self, content: Content, task: ReadingTask) -> ChunkedDocument:
        self.reads += 1
        return read_here(content, task, Words(), PdfLimits())


class MemorySpool:
    """A `Spool` in memory."""

    def __init__(self) -> None:
        self.written = io.BytesIO()

    async def write(self, piece: bytes) -> None:
        self.written.write(piece)

    async def content(self) -> Content:
        data = self.written.getvalue()
        return Content(hashlib.sha256(data).digest(), len(data), self.written)


@asynccontextmanager
async def memory_spool() -> AsyncIterator[MemorySpool]:
    """Lend a spool in memory."""
    yield MemorySpool()
