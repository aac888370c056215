"""Reads a PDF by pypdf, in Python alone."""

import io
from collections.abc import Iterator
from typing import BinaryIO

import pypdf
from pypdf.errors import PdfStreamError

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.pdf_bounds import PdfLimits, check_characters, check_count, damaged, stored

_END_MARK = b"\n%%EOF\n"
"""What some files lack that are whole otherwise."""


def by_pypdf(file: BinaryIO, limits: PdfLimits) -> tuple[object, list[str | None]]:
    """Return the title as it stands in the file, and the stored text of each page, None for one that cannot be read.

    Raises InvalidArgumentError with DOCUMENT_ENCRYPTED, DOCUMENT_DAMAGED or DOCUMENT_TOO_LARGE; MemoryError as it
    comes.
    """
    reader = _opened(file)
    count = _page_count(reader)
    check_count(count, limits)
    return _title_of(reader), list(_pages(reader, count, limits.characters))


def _opened(file: BinaryIO) -> pypdf.PdfReader:
    try:
        reader = _parsed(file)
        locked = reader.is_encrypted and not reader.decrypt("")
    except MemoryError:
        raise
    except Exception as error:  # damaged files make pypdf raise anything
        raise damaged() from error
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
        raise damaged() from error
    if not count:
        raise damaged()
    return count


def _pages(reader: pypdf.PdfReader, count: int, characters: int) -> Iterator[str | None]:
    """Yield the stored text of each page; None where the page cannot be read."""
    for index in range(count):
        try:
            text = stored(reader.pages[index].extract_text())
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # one damaged page does not take the others with it
            yield None
            continue
        characters -= len(text)
        check_characters(characters)
        yield text


def _title_of(reader: pypdf.PdfReader) -> object:
    try:
        return reader.metadata.title if reader.metadata else None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # the text is there all the same
        return None
