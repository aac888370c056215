"""Embeds the chunks of a document in batches, and keeps what is done for an ingest that has to begin again."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from services.ingest.model import Chunk, EmbeddedVector, EmbeddingSpace, NewDocument
from services.ingest.ports import Embedder, VectorCache

Report: TypeAlias = Callable[[int, int], Awaitable[None]]
"""Hears how many chunks have a vector by now, and how many there are to embed."""


async def unheard(embedded: int, total: int) -> None:
    """Listen to nothing."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors that a document needs beside those that are stored with its chunks."""

    vectors: Mapping[str, EmbeddedVector]
    tokens: int
    """Tokens of the texts that were embedded now."""


class ResumedEmbedding:
    """Embeds for one document and one space; goes on where an earlier ingest of the document was cut off."""

    def __init__(self, cache: VectorCache, embedder: Embedder, document: NewDocument, space: EmbeddingSpace) -> None:
        """Take the collaborators and what the vectors are for."""
        self._cache = cache
        self._embedder = embedder
        self._place = (document.tenant, document.document_id, space.space_id)

    async def __call__(self, chunks: Mapping[str, Chunk], report: Report) -> Embedded:
        """Return the vectors of `chunks`; all but the last batch, which is about to be stored, are kept meanwhile."""
        vectors = await self._kept(chunks)
        waiting = iter([(key, chunk) for key, chunk in chunks.items() if key not in vectors])
        tokens = 0
        while batch := dict(islice(waiting, self._embedder.batch)):
            await report(len(vectors), len(chunks))
            made = await self._embedder.embed([chunk.embedding_text for chunk in batch.values()])
            embedded = dict(zip(batch, made, strict=True))
            vectors |= embedded
            tokens += sum(chunk.token_count for chunk in batch.values())
            if len(vectors) < len(chunks):
                await self._cache.put(*self._place, embedded)
        await report(len(vectors), len(chunks))
        return Embedded(vectors, tokens)

    async def _kept(self, chunks: Mapping[str, Chunk]) -> dict[str, EmbeddedVector]:
        return dict(await self._cache.get(*self._place, list(chunks))) if len(chunks) > self._embedder.batch else {}
