"""The ingest use-case: read, chunk, embed what is new, replace in one transaction."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.common.errors import AbortedError, FailedPreconditionError, InvalidArgumentError, Reason, UnavailableError
from services.ingest.embedding import Report, ResumedEmbedding, unheard
from services.ingest.fingerprint import is_up_to_date, settings_fingerprint
from services.ingest.keys import chunk_keys, document_id
from services.ingest.model import (
    Chunk,
    ChunkedDocument,
    EmbeddingSpace,
    Lane,
    NewDocument,
    Outcome,
    ReadingTask,
    StoredDocument,
)
from services.ingest.ports import DocumentReader, DocumentStore, Embedder, VectorCache
from services.ingest.request import IngestRequest

_ATTEMPTS = 3
"""Tries of an ingest that met another one on the same document or a change of the embedding space."""
_PAUSE_SECONDS = 0.1
"""Pause after the first such meeting; the other one is about to commit."""


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
    pages_with_text: int | None = None
    """None where nothing was read, or the document has no pages; so is the next."""
    pages_without_text: int | None = None
    estimated_cost_usd: float = 0.0


class IngestDocument:
    """Ingests one document at a time; the same bytes under the same settings change nothing."""

    def __init__(
        self,
        store: DocumentStore,
        cache: VectorCache,
        embedder: Embedder,
        reader: DocumentReader,
        *,
        model: str,
        content_key: bytes,
        usd_per_million_tokens: float = 0.0,
    ) -> None:
        """Take the collaborators, the embedder's model and its price, and the key that ids are made with."""
        self._store = store
        self._cache = cache
        self._embedder = embedder
        self._reader = reader
        self._model = model
        self._content_key = content_key
        self._usd_per_token = usd_per_million_tokens / 1_000_000

    async def __call__(self, request: IngestRequest, report: Report = unheard) -> IngestResult:
        """Ingest and return what was done; `report` hears how much is embedded.

        Raises what `DocumentReader.read` does, InvalidArgumentError with DOCUMENT_EMPTY, NotFoundError with
        LANE_UNKNOWN, AbortedError when others keep changing the same document, UnavailableError with SPACE_MISMATCH,
        FailedPreconditionError with CONTENT_KEY_MISMATCH.
        """
        lane = await self._store.lane(request.lane)
        settings_sha256 = settings_fingerprint(
            lane, request.media_type, request.title, request.metadata, request.filename
        )
        read: _Read | None = None
        for attempt in range(1, _ATTEMPTS + 1):
            space = await self._space()
            stored = await self._store.find(request.tenant, request.lane, request.source_url)
            self._check_key(request, stored)
            if stored is not None and _same(stored, request.content.sha256, settings_sha256, space):
                unchanged = IngestResult(Outcome.UNCHANGED, stored, chunks_kept=stored.chunk_count)
                return _compared(unchanged, lane, space)
            read = read or await self._read(request, lane, settings_sha256)
            try:
                replaced = await self._replace(read, stored.version if stored else 0, space, report)
                return _compared(replaced, lane, space)
            except AbortedError:
                if attempt == _ATTEMPTS:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS * attempt)
        raise AssertionError("the last attempt returns or raises")

    def _check_key(self, request: IngestRequest, stored: StoredDocument | None) -> None:
        place = (request.tenant, request.lane, request.source_url)
        if stored is not None and stored.document_id != document_id(self._content_key, *place):
            raise FailedPreconditionError(
                Reason.CONTENT_KEY_MISMATCH,
                "The document at this address was stored under another content key than this service runs with. Give "
                "the service the key that it had (ATTEST_CONTENT_KEY), or delete the document first.",
            )

    async def _read(self, request: IngestRequest, lane: Lane, settings_sha256: bytes) -> "_Read":
        address = request.filename or request.source_url
        task = ReadingTask(request.media_type, address, request.title, lane)
        read = await self._reader.read(request.content, task)
        if not read.chunks:
            raise InvalidArgumentError(Reason.DOCUMENT_EMPTY, "The document holds no text to search.")
        place = (self._content_key, request.tenant, request.lane, request.source_url)
        keyed = await asyncio.to_thread(chunk_keys, *place, read.chunks)
        return _Read(_document(request, read, document_id(*place), settings_sha256), keyed, read.warnings)

    async def _replace(self, read: "_Read", based_on: int, space: EmbeddingSpace, report: Report) -> IngestResult:
        document = replace(read.document, based_on=based_on)
        there = await self._store.embedded_chunks(document.tenant, space.space_id, list(read.chunks))
        new = {key: part for key, part in read.chunks.items() if key not in there}
        embedding = ResumedEmbedding(self._cache, self._embedder, document, space)
        embedded = await embedding(new, report)
        replaced = await self._store.replace(document, space.space_id, read.chunks, embedded.vectors)
        return IngestResult(
            outcome=Outcome.CREATED if replaced.document.version == 1 else Outcome.REPLACED,
            document=replaced.document,
            chunks_added=replaced.chunks_added,
            chunks_kept=replaced.chunks_kept,
            chunks_removed=replaced.chunks_removed,
            tokens_embedded=embedded.tokens,
            warnings=read.warnings,
            pages_with_text=read.document.pages_with_text,
            pages_without_text=read.document.pages_without_text,
            estimated_cost_usd=embedded.tokens * self._usd_per_token,
        )

    async def _space(self) -> EmbeddingSpace:
        space = await self._store.active_space()
        if space.model != self._model:
            # Vectors of two models in one space turn every ranking into noise (F11).
            raise UnavailableError(
                Reason.SPACE_MISMATCH, "The active embedding space was made by another model than this service runs."
            )
        return space


@dataclass(frozen=True, slots=True)
class _Read:
    """A document that only needs its vectors."""

    document: NewDocument
    chunks: Mapping[str, Chunk]
    warnings: Sequence[str]


def _document(request: IngestRequest, read: ChunkedDocument, id_: str, settings_sha256: bytes) -> NewDocument:
    return NewDocument(
        document_id=id_,
        tenant=request.tenant,
        lane=request.lane,
        source_url=request.source_url,
        title=read.title,
        media_type=request.media_type,
        content_sha256=request.content.sha256,
        settings_sha256=settings_sha256,
        metadata={**read.metadata, **request.metadata},
        pages=read.pages,
    )


def _compared(result: IngestResult, lane: Lane, space: EmbeddingSpace) -> IngestResult:
    document = replace(result.document, up_to_date=is_up_to_date(result.document, lane, space.space_id))
    return replace(result, document=document)


def _same(stored: StoredDocument, content_sha256: bytes, settings_sha256: bytes, space: EmbeddingSpace) -> bool:
    return (
        stored.content_sha256 == content_sha256
        and stored.settings_sha256 == settings_sha256
        and stored.space_id == space.space_id
    )
