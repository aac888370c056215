"""Reads the text of a PDF, page by page; to be run where a hostile file can do no harm."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pypdf
from pypdf.errors import PdfStreamError

from services.common.errors import InvalidArgumentError, Reason
from services.common.text import label, normalise
from services.ingest.model import PageText

_END_MARK = b"\n%%EOF\n"
"""What some files lack that are whole otherwise."""
_NO_TITLE = re.compile(
    r"untitled\b.*|microsoft (?:word|powerpoint|excel) - .*|.*\.(?:docx?|pptx?|xlsx?|dvi|qxd|indd)", re.I
)
"""What programs write where nobody gave a title."""


@dataclass(frozen=True, slots=True)
class PdfLimits:
    """Bounds of what is read of one PDF."""

    pages: int = 5_000
    characters: int = 20_000_000


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
    reader = _opened(file)
    count = _page_count(reader)
    if count > limits.pages:
        raise _too_large(f"The PDF has {count} pages and may have {limits.pages}", pages=count, most=limits.pages)
    pages = tuple(_pages(reader, count, limits.characters))
    if all(text is None for _, text in pages):
        raise _damaged()
    read = PdfText(_title(reader), tuple(PageText(number, text or "") for number, text in pages))
    if len(read.without_text) == count:
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


def _opened(file: BinaryIO) -> pypdf.PdfReader:
    try:
        reader = _parsed(file)
        locked = reader.is_encrypted and not reader.decrypt("")
    except MemoryError:
        raise
    except Exception as error:  # damaged files make pypdf raise anything
        raise _damaged() from error
    if locked:
        raise InvalidArgumentError(
            Reason.DOCUMENT_ENCRYPTED, "The PDF asks for a password; save it without one and send it again."
        )
    return reader


def _parsed(file: BinaryIO) -> pypdf.PdfReader:
    try:
        return pypdf.PdfReader(file)
    except PdfStreamError:
        file.seek(0)
        return pypdf.PdfReader(io.BytesIO(file.read() + _END_MARK))


def _page_count(reader: pypdf.PdfReader) -> int:
    try:
        count = len(reader.pages)
    except MemoryError:
        raise
    except Exception as error:  # as above
        raise _damaged() from error
    if not count:
        raise _damaged()
    return count


def _pages(reader: pypdf.PdfReader, count: int, characters: int) -> Iterator[tuple[int, str | None]]:
    """Yield number and stored text of each page; None where the page cannot be read."""
    for index in range(count):
        try:
            text = normalise(reader.pages[index].extract_text())
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # one damaged page does not take the others with it
            yield index + 1, None
            continue
        characters -= len(text)
        if characters < 0:
            raise _too_large("The PDF has more text than one document may have")
        yield index + 1, text


def _title(reader: pypdf.PdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # the text is there all the same
        return ""
    written = label(title) if isinstance(title, str) else ""
    return "" if _NO_TITLE.fullmatch(written) or not _has_text(written) else written


def _has_text(text: str) -> bool:
    return any(map(str.isalnum, text))


def _damaged() -> InvalidArgumentError:
    return InvalidArgumentError(
        Reason.DOCUMENT_DAMAGED, "The PDF is damaged and cannot be read; save or print it to a new PDF and send that."
    )


def _too_large(problem: str, **metadata: int) -> InvalidArgumentError:
    return InvalidArgumentError(Reason.DOCUMENT_TOO_LARGE, f"{problem}; split it.", **metadata)
