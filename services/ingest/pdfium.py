"""Reads pages of a PDF by PDFium, where pypdf finds nothing; native code, so only where a crash can do no harm."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

_LINE_HYPHEN = "\ufffe"
"""What PDFium writes in place of a hyphen and the end of its line, whether the hyphen parts a word or a compound."""


class PdfiumError(Exception):
    """PDFium cannot open the file, for want of a password or because it is damaged."""


class PdfiumDocument:
    """An open PDF."""

    def __init__(self, document: Any, failure: type[Exception]) -> None:
        """Take the document of `pypdfium2` and the exception that it raises for a page that cannot be read."""
        self._document = document
        self._failure = failure

    @property
    def page_count(self) -> int:
        """Number of pages, as the file says: some may not be there."""
        return len(self._document)

    @property
    def title(self) -> str:
        """Title of the metadata, empty where there is none."""
        return str(self._document.get_metadata_value("Title"))

    def text(self, index: int, most: int) -> str | None:
        """Return the text of the page with this index from 0, or None where it cannot be read.

        What has over `most` characters is cut after the first one too many.
        """
        try:
            return self._text(index, most + 1).replace(_LINE_HYPHEN, "-\n")
        except (self._failure, AssertionError, RecursionError):  # of pypdfium2, where PDFium contradicts itself
            return None

    def _text(self, index: int, most: int) -> str:
        page = self._document[index]
        try:
            text = page.get_textpage()
            return str(text.get_text_range(count=min(text.count_chars(), most)))
        finally:
            page.close()


@contextmanager
def opened(file: BinaryIO) -> Iterator[PdfiumDocument]:
    """Open the PDF with an empty password; raise PdfiumError."""
    import pypdfium2  # loaded for the few files that need it

    file.seek(0)
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        raise PdfiumError from error
    try:
        yield PdfiumDocument(document, pypdfium2.PdfiumError)
    finally:
        document.close()
