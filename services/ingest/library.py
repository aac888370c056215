"""The library use-cases: a tenant's documents are shown, listed and deleted, and its lanes listed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.common.errors import InvalidArgumentError, NotFoundError, Reason
from services.ingest import page_token
from services.ingest.fingerprint import is_up_to_date
from services.ingest.model import Deletion, LaneInUse, Position, Settings, StoredDocument
from services.ingest.page_size import checked_size
from services.ingest.ports import LibraryStore
from services.ingest.request import checked_lane, checked_prefix

MAX_PAGE_BYTES = 3 * 1024 * 1024
"""Bytes of a page of documents as JSON at most, as estimated; the gateway lets 4 MiB pass."""
BATCH = 100
"""Documents read at once: metadata can be large, and a full page is not read to be thrown away."""
_FIXED_BYTES = 600
"""JSON of a document without its texts, rounded up."""
_ESCAPED_BYTES = 6
"""Bytes that one byte of text can become in JSON: `<` is written as six characters."""
_DOCUMENT_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class DocumentList:
    """A page of documents and the token of the next one, empty on the last."""

    documents: Sequence[StoredDocument]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class LaneList:
    """A page of lanes and the token of the next one, empty on the last."""

    lanes: Sequence[LaneInUse]
    next_page_token: str


class Library:
    """Shows, lists and deletes what one tenant has; what another has is not there."""

    def __init__(self, store: LibraryStore) -> None:
        """Take the store."""
        self._store = store

    async def document(self, tenant: str, document_id: str) -> StoredDocument:
        """Return the document; raise NotFoundError."""
        return (await self._compared([await self._store.document(tenant, _checked_id(document_id))]))[0]

    async def documents(
        self, tenant: str, lane: str, page_size: int, token: str, source_url_prefix: str = ""
    ) -> DocumentList:
        """Return a page of documents, newest first; of all lanes when `lane` is empty.

        A page is shorter than asked for when its documents have much metadata. What is stored while somebody turns
        pages moves to the front and changes nothing behind it. Raises InvalidArgumentError, NotFoundError with
        LANE_UNKNOWN.
        """
        size = checked_size(page_size)
        of_lane = checked_lane(lane) if lane else None
        prefix = checked_prefix(source_url_prefix)
        after = page_token.document_position(token, of_lane) if token else None
        taken: list[StoredDocument] = []
        room = MAX_PAGE_BYTES
        while True:
            wanted = min(BATCH, size - len(taken))
            found = await self._store.documents(tenant, of_lane, after, wanted + 1, prefix)
            for document in found[:wanted]:
                room -= _json_bytes(document)
                if room < 0 and taken:
                    after = _position(taken[-1])
                    return DocumentList(await self._compared(taken), page_token.after_document(of_lane, after))
                taken.append(document)
            if len(found) <= wanted:
                return DocumentList(await self._compared(taken), "")
            after = _position(taken[-1])
            if len(taken) == size:
                return DocumentList(await self._compared(taken), page_token.after_document(of_lane, after))

    async def delete(self, tenant: str, document_id: str) -> Deletion:
        """Delete the document and all that was made of it; raise NotFoundError, AbortedError with DOCUMENT_BUSY."""
        gone = await self._store.delete(tenant, _checked_id(document_id))
        return replace(gone, document=(await self._compared([gone.document]))[0])

    async def lanes(self, tenant: str, page_size: int, token: str) -> LaneList:
        """Return a page of lanes by name, with the tenant's documents in each; raise InvalidArgumentError."""
        size = checked_size(page_size)
        after = page_token.lane_name(token) if token else None
        found = await self._store.lanes(tenant, after, size + 1)
        page = found[:size]
        return LaneList(page, page_token.after_lane(page[-1].lane.name) if len(found) > size else "")

    async def _compared(self, documents: Sequence[StoredDocument]) -> Sequence[StoredDocument]:
        """Return the documents with whether they are as an ingest of now would make them."""
        if not documents:
            return documents
        now = await self._store.settings({document.lane for document in documents})
        return [replace(document, up_to_date=_is_up_to_date(document, now)) for document in documents]


def _is_up_to_date(document: StoredDocument, now: Settings) -> bool:
    lane = now.lanes.get(document.lane)
    return lane is not None and now.space_id is not None and is_up_to_date(document, lane, now.space_id)


def not_found() -> NotFoundError:
    """Return the error for a document that is not there, or not for this tenant."""
    return NotFoundError(Reason.NOT_FOUND, "There is no such document; list the documents to see their ids.")


def _checked_id(document_id: str) -> str:
    if not document_id:
        raise InvalidArgumentError(Reason.FIELD_MISSING, "document_id is missing.", field="document_id")
    if not _DOCUMENT_ID.fullmatch(document_id):
        raise not_found()
    return document_id


def _position(document: StoredDocument) -> Position:
    return Position(document.updated_at, document.document_id)


def _json_bytes(document: StoredDocument) -> int:
    texts = [document.source_url, document.title, *document.metadata.keys(), *document.metadata.values()]
    return _FIXED_BYTES + _ESCAPED_BYTES * sum(len(text.encode()) for text in texts)
