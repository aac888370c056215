"""The upload use-case: keep what comes in, refuse it as soon as it is too much, then ingest it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TypeAlias

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.embedding import Report, unheard
from services.ingest.ingest import IngestDocument, IngestResult
from services.ingest.media import HEAD_BYTES, PDF
from services.ingest.ports import DocumentStore, Spool
from services.ingest.request import IngestRequest, UploadHeader

MAX_PDF_BYTES = 100 * 1024 * 1024
MAX_TEXT_BYTES = 20 * 1024 * 1024

_PAUSE_SECONDS = 0.2
"""Least time between two messages of progress."""


@dataclass(frozen=True, slots=True)
class UploadProgress:
    """How far an upload has come."""

    received_bytes: int = 0
    embedded_chunks: int = 0
    total_chunks: int = 0
    """0 until it is known."""


@dataclass(frozen=True, slots=True)
class Uploaded:
    """An upload that has come to its end."""

    progress: UploadProgress
    result: IngestResult


Listener: TypeAlias = Callable[[UploadProgress], Awaitable[None]]


class UploadDocument:
    """Ingests a document that comes in pieces."""

    def __init__(
        self,
        store: DocumentStore,
        ingest: IngestDocument,
        spool: Callable[[], AbstractAsyncContextManager[Spool]],
        clock: Callable[[], float],
    ) -> None:
        """Take the collaborators; `spool` lends a place to keep a document, `clock` counts seconds."""
        self._store = store
        self._ingest = ingest
        self._spool = spool
        self._clock = clock

    async def __call__(
        self, header: UploadHeader, pieces: AsyncIterator[bytes], listener: Listener, report: Report = unheard
    ) -> Uploaded:
        """Take the pieces, ingest the document and return what was done.

        `listener` hears of it five times a second at most, `report` of each step of the embedding.

        Raises InvalidArgumentError with FIELD_MISSING, MEDIA_TYPE_UNSUPPORTED or DOCUMENT_TOO_LARGE, and what
        `IngestDocument` does.
        """
        await self._store.lane(header.lane)
        progress = _Progress(listener, self._clock)
        async with self._spool() as spool:
            request = await _received(header, pieces, spool, progress)

            async def embedded(done: int, total: int) -> None:
                await report(done, total)
                await progress.embedded(done, total)

            result = await self._ingest(request, embedded)
        return Uploaded(progress.now, result)


async def _received(
    header: UploadHeader, pieces: AsyncIterator[bytes], spool: Spool, progress: "_Progress"
) -> IngestRequest:
    head, size = b"", 0
    async for piece in pieces:
        head += piece[: max(0, HEAD_BYTES - size)]
        size += len(piece)
        if size >= HEAD_BYTES:
            _check_size(size, header.media_type(head))
        await spool.write(piece)
        await progress.received(size)
    if not size:
        raise InvalidArgumentError(Reason.FIELD_MISSING, "data is missing; send the document's bytes.", field="data")
    return header.request(header.media_type(head), await spool.content())


def _check_size(size: int, media_type: str) -> None:
    most = MAX_PDF_BYTES if media_type == PDF else MAX_TEXT_BYTES
    if size > most:
        raise InvalidArgumentError(
            Reason.DOCUMENT_TOO_LARGE,
            f"The document has more than the {most} bytes that one may have; split it.",
            field="data",
            most=most,
        )


class _Progress:
    """What is known by now, told to the listener at a pace."""

    def __init__(self, listener: Listener, clock: Callable[[], float]) -> None:
        self._listener = listener
        self._clock = clock
        self._told = clock()
        self.now = UploadProgress()

    async def received(self, size: int) -> None:
        self.now = replace(self.now, received_bytes=size)
        await self._tell()

    async def embedded(self, embedded: int, total: int) -> None:
        self.now = replace(self.now, embedded_chunks=embedded, total_chunks=total)
        await self._tell()

    async def _tell(self) -> None:
        if self._clock() - self._told >= _PAUSE_SECONDS:
            self._told = self._clock()
            await self._listener(self.now)
