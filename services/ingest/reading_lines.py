"""What the reading process writes: one JSON array a line, each small, so that its reader holds nothing up."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from services.common import errors
from services.common.errors import DomainError, Reason
from services.ingest.model import Chunk, ChunkedDocument, PageText

Line: TypeAlias = list[Any]

_TEXT_PART = 65_536
"""Characters of text in a line."""
_ERRORS = {
    kind.__name__: kind
    for kind in (errors.InvalidArgumentError, errors.FailedPreconditionError, errors.ResourceExhaustedError)
}


class ReadingError(Exception):
    """The reading process ended without a result, by a fault of ours."""


def encode(line: Line) -> bytes:
    """Return a line as it is written."""
    return json.dumps(line).encode() + b"\n"


def document_lines(read: ChunkedDocument) -> Iterator[Line]:
    """Yield the lines of a document; a chunk's content is not among them, since it is a span of its page."""
    for page in read.pages:
        yield ["page", page.page]
        for start in range(0, len(page.text), _TEXT_PART):
            yield ["text", page.text[start : start + _TEXT_PART]]
    for chunk in read.chunks:
        span = (chunk.char_start, chunk.char_end)
        yield ["chunk", chunk.page, *span, list(chunk.heading_path), chunk.token_count, chunk.embedding_text]
    yield ["document", read.title, dict(read.metadata), list(read.warnings)]


def error_line(error: DomainError) -> Line:
    """Return the line of a failure with a name."""
    return ["error", type(error).__name__, error.reason.value, error.message, dict(error.metadata)]


def document_of(lines: Iterable[bytes]) -> ChunkedDocument | None:
    """Return the document of the lines, or None where they break off.

    Raises the DomainError that they hold, and ReadingError for a fault that they tell of.
    """
    made = _Assembly()
    for raw in lines:
        if not raw.endswith(b"\n"):
            return None
        kind, *values = json.loads(raw)
        if kind == "document":
            return made.document(*values)
        if kind == "error":
            raise _error(*values)
        if kind == "fault":
            raise ReadingError(*values)
        made.add(kind, values)
    return None


class _Assembly:
    def __init__(self) -> None:
        self._parts: dict[int | None, list[str]] = {}
        self._page: int | None = None
        self._texts: dict[int | None, str] = {}
        self._chunks: list[Chunk] = []

    def add(self, kind: str, values: Line) -> None:
        if kind == "page":
            self._page = values[0]
            self._parts[self._page] = []
        elif kind == "text":
            self._parts[self._page].append(values[0])
        else:
            self._chunks.append(self._chunk(*values))

    def document(self, title: str, metadata: dict[str, str], warnings: list[str]) -> ChunkedDocument:
        pages = tuple(PageText(number, self._text(number)) for number in self._parts)
        return ChunkedDocument(title, metadata, warnings, pages, self._chunks)

    def _text(self, page: int | None) -> str:
        if page not in self._texts:
            self._texts[page] = "".join(self._parts[page])
        return self._texts[page]

    def _chunk(
        self, page: int | None, start: int, end: int, path: list[str], token_count: int, embedding_text: str
    ) -> Chunk:
        return Chunk(
            ordinal=len(self._chunks),
            content=self._text(page)[start:end],
            char_start=start,
            char_end=end,
            heading_path=tuple(path),
            page=page,
            token_count=token_count,
            embedding_text=embedding_text,
        )


def _error(kind: str, reason: str, message: str, metadata: dict[str, str]) -> DomainError:
    return _ERRORS[kind](Reason(reason), message, **metadata)
