"""The ingest use-case: read, chunk, embed what is new, replace in one transaction."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from services.common.errors import AbortedError, InvalidArgumentError, Reason, UnavailableError
from services.ingest.chunking import CHUNKER_VERSION, chunk
from services.ingest.keys import chunk_keys, document_id
from services.ingest.model import Chunk, EmbeddingSpace, Lane, NewDocument, Outcome, PageText, StoredDocument
from services.ingest.ports import DocumentStore, Embedder, TokenCounter
from services.ingest.readers import ReadDocument, read_document
from services.ingest.request import IngestRequest

_ATTEMPTS = 3
"""Tries of an ingest that met another one on the same document or a change of the embedding space."""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What an ingest did."""

    outcome: Outcome
    document: StoredDocument
    chunks_added: int = 0
    chunks_kept: int = 0
    chunks_removed: int = 0
    tokens_embedded: int = 0
    warnings: Sequence[str] = ()


class IngestDocument:
    """Ingests one document at a time; the same bytes under the same settings change nothing."""

    def __init__(
        self, store: DocumentStore, embedder: Embedder, tokens: TokenCounter, *, model: str, content_key: bytes
    ) -> None:
        """Take the collaborators, the name of the embedder's model, and the key that ids are made with."""
        self._store = store
        self._embedder = embedder
        self._tokens = tokens
        self._model = model
        self._content_key = content_key

    async def __call__(self, request: IngestRequest) -> IngestResult:
        """Ingest and return what was done.

        Raises InvalidArgumentError with DOCUMENT_EMPTY, NotFoundError with LANE_UNKNOWN, AbortedError when others keep
        changing the same document, UnavailableError with SPACE_MISMATCH.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._once(request)
            except AbortedError:
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, request: IngestRequest) -> IngestResult:
        lane = await self._store.lane(request.lane)
        space = await self._space()
        content_sha256 = hashlib.sha256(request.content.encode()).digest()
        settings_sha256 = settings_fingerprint(request, lane)
        stored = await self._store.find(request.tenant, request.lane, request.source_url)
        if stored is not None and _same(stored, content_sha256, settings_sha256, space):
            return IngestResult(Outcome.UNCHANGED, stored, chunks_kept=stored.chunk_count)
        read, chunks = await asyncio.to_thread(self._read_and_chunk, request, lane)
        if not chunks:
            raise InvalidArgumentError(Reason.DOCUMENT_EMPTY, "The document holds no text to search.")
        document = self._document(request, read, content_sha256, settings_sha256)
        keyed = chunk_keys(self._content_key, request.tenant, request.lane, request.source_url, chunks)
        there = await self._store.embedded_chunks(request.tenant, space.space_id, list(keyed))
        new = {key: part for key, part in keyed.items() if key not in there}
        embedded = await self._embedder.embed([part.embedding_text for part in new.values()])
        vectors = dict(zip(new, embedded, strict=True))
        replaced = await self._store.replace(document, space.space_id, keyed, vectors)
        return IngestResult(
            outcome=Outcome.CREATED if replaced.document.version == 1 else Outcome.REPLACED,
            document=replaced.document,
            chunks_added=replaced.chunks_added,
            chunks_kept=replaced.chunks_kept,
            chunks_removed=replaced.chunks_removed,
            tokens_embedded=sum(part.token_count for part in new.values()),
            warnings=read.warnings,
        )

    async def _space(self) -> EmbeddingSpace:
        space = await self._store.active_space()
        if space.model != self._model:
            # Vectors of two models in one space turn every ranking into noise (F11).
            raise UnavailableError(
                Reason.SPACE_MISMATCH, "The active embedding space was made by another model than this service runs."
            )
        return space

    def _read_and_chunk(self, request: IngestRequest, lane: Lane) -> tuple[ReadDocument, list[Chunk]]:
        read = read_document(request.content, request.media_type, request.source_url, request.title)
        return read, chunk(read, lane, self._tokens)

    def _document(
        self, request: IngestRequest, read: ReadDocument, content_sha256: bytes, settings_sha256: bytes
    ) -> NewDocument:
        return NewDocument(
            document_id=document_id(self._content_key, request.tenant, request.lane, request.source_url),
            tenant=request.tenant,
            lane=request.lane,
            source_url=request.source_url,
            title=read.title,
            media_type=request.media_type,
            content_sha256=content_sha256,
            settings_sha256=settings_sha256,
            metadata={**read.metadata, **request.metadata},
            pages=(PageText(page=None, text=read.text),),
        )


def settings_fingerprint(request: IngestRequest, lane: Lane) -> bytes:
    """Hash what the stored document depends on beside its content; 32 bytes."""
    settings = {
        "chunker": CHUNKER_VERSION,
        "chunk_tokens": lane.chunk_tokens,
        "overlap_tokens": lane.overlap_tokens,
        "title": request.title,
        "media_type": request.media_type,
        "metadata": dict(request.metadata),
    }
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()


def _same(stored: StoredDocument, content_sha256: bytes, settings_sha256: bytes, space: EmbeddingSpace) -> bool:
    return (
        stored.content_sha256 == content_sha256
        and stored.settings_sha256 == settings_sha256
        and stored.space_id == space.space_id
    )
