"""Reads the text of a PDF, page by page; to be run where a hostile file can do no harm.

pypdf reads; PDFium is asked for what pypdf cannot read or finds empty (docs/decisions/0002-pdf-reader.md).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from services.common.errors import InvalidArgumentError, Reason
from services.common.text import label
from services.ingest.model import PageText
from services.ingest.pdf_bounds import PdfLimits, check_characters, check_count, damaged, stored
from services.ingest.pdf_pypdf import by_pypdf
from services.ingest.pdfium import PdfiumDocument, PdfiumError, opened

__all__ = ["PdfLimits", "PdfText", "ranges", "read_pdf"]

_NO_TITLE = re.compile(
    r"untitled\b.*|microsoft (?:word|powerpoint|excel) - .*|.*\.(?:docx?|pptx?|xlsx?|dvi|qxd|indd)", re.I
)
"""What programs write where nobody gave a title."""
_SECOND_OPINION = frozenset({Reason.DOCUMENT_DAMAGED, Reason.DOCUMENT_ENCRYPTED})
"""Refusals of pypdf that PDFium may know better."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """What a PDF holds to read."""

    title: str
    """Title of its metadata; empty where there is none that a person gave."""
    pages: tuple[PageText, ...]
    """Stored text of every page, numbered from 1; a page without text is there with an empty one."""

    @property
    def without_text(self) -> tuple[int, ...]:
        """Numbers of the pages without a letter or digit."""
        return tuple(page.page or 0 for page in self.pages if not page.has_text)


def read_pdf(file: BinaryIO, limits: PdfLimits) -> PdfText:
    """Read the text of all pages.

    Raises InvalidArgumentError with DOCUMENT_ENCRYPTED, DOCUMENT_DAMAGED, DOCUMENT_TOO_LARGE or DOCUMENT_WITHOUT_TEXT;
    MemoryError as it comes.
    """
    try:
        title, texts = by_pypdf(file, limits)
    except InvalidArgumentError as refusal:
        if refusal.reason not in _SECOND_OPINION:
            raise
        title, texts = _by_pdfium(file, limits, refusal)
    else:
        texts = _completed(texts, file, limits)
    if all(text is None for text in texts):
        raise damaged()
    read = PdfText(_title(title), tuple(PageText(number, text or "") for number, text in enumerate(texts, 1)))
    if len(read.without_text) == len(texts):
        raise InvalidArgumentError(
            Reason.DOCUMENT_WITHOUT_TEXT,
            f"No page of the PDF has text (pages {ranges(read.without_text)}): it is a scan, or blank. "
            "Run character recognition (OCR) over it and send the result.",
            pages=ranges(read.without_text),
        )
    return read


def ranges(numbers: tuple[int, ...]) -> str:
    """Write page numbers for a reader, at most twenty ranges of them. Example: `1-3, 7`."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    written = [str(first) if first == last else f"{first}-{last}" for first, last in found[:20]]
    return ", ".join(written) + (", …" if len(found) > 20 else "")


def _by_pdfium(file: BinaryIO, limits: PdfLimits, refusal: InvalidArgumentError) -> tuple[object, list[str | None]]:
    """Return title and texts, or raise what pypdf refused the file with where PDFium finds no text either."""
    try:
        with opened(file) as document:
            check_count(document.page_count, limits)
            title, texts = document.title, _asked(document, [None] * document.page_count, limits)
    except PdfiumError:
        raise refusal from None
    if not any(map(_has_text, filter(None, texts))):
        raise refusal
    return title, texts


def _completed(texts: list[str | None], file: BinaryIO, limits: PdfLimits) -> list[str | None]:
    """Ask PDFium for the pages without text, unless it counts the pages otherwise: then numbers would be wrong."""
    if all(map(_has_text, (text or "" for text in texts))):
        return texts
    try:
        with opened(file) as document:
            return _asked(document, texts, limits) if document.page_count == len(texts) else texts
    except PdfiumError:
        return texts


def _asked(document: PdfiumDocument, texts: Sequence[str | None], limits: PdfLimits) -> list[str | None]:
    """Return the texts with those of PDFium in place of what is missing or empty."""
    found = list(texts)
    left = limits.characters - sum(len(text or "") for text in texts)
    for index, text in enumerate(texts):
        if _has_text(text or ""):
            continue
        other = document.text(index, left)
        if other is None:
            continue
        found[index] = stored(other)
        left -= len(other)
        check_characters(left)
    return found


def _title(written: object) -> str:
    title = label(written) if isinstance(written, str) else ""
    return "" if _NO_TITLE.fullmatch(title) or not _has_text(title) else title


def _has_text(text: str) -> bool:
    return any(map(str.isalnum, text))
