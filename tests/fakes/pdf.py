"""PDFs made on the fly: pages of plain lines, locked, blank, damaged or a bomb."""

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, StreamObject

_FONT = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica", "/Encoding": "/WinAnsiEncoding"}


def pdf(
    pages: Sequence[str], *, title: str | None = None, password: str | None = None, cipher: str = "AES-256"
) -> bytes:
    """Make a PDF with a page per text, its lines below each other; an empty text is a blank page.

    `password` locks it with the `cipher`; an empty one locks it as programs do that only forbid printing.
    """
    writer = PdfWriter()
    for text in pages:
        _add_page(writer, _content(text))
    return _bytes(writer, title, password, cipher)


def bomb(megabytes: int) -> bytes:
    """Make a PDF whose one page unpacks to that many megabytes of drawing."""
    writer = PdfWriter()
    stream = StreamObject()
    packer = zlib.compressobj()
    unit = b"BT /F1 12 Tf 72 700 Td (a) Tj ET\n" * 32_768
    packed = b"".join(packer.compress(unit) for _ in range(megabytes)) + packer.flush()
    stream._data = packed
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    _add_page(writer, stream)
    return _bytes(writer)


def _content(text: str) -> StreamObject:
    stream = DecodedStreamObject()
    shown = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in text.splitlines()]
    drawn = " T* ".join(f"({line}) Tj" for line in shown)
    stream.set_data(f"BT /F1 12 Tf 14 TL 72 740 Td {drawn} ET".encode("cp1252") if text else b"")
    return stream


def _add_page(writer: PdfWriter, content: StreamObject) -> None:
    page = writer.add_blank_page(612, 792)
    font = DictionaryObject({NameObject(key): NameObject(value) for key, value in _FONT.items()})
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    page[NameObject("/Contents")] = writer._add_object(content)


def _bytes(writer: PdfWriter, title: str | None = None, password: str | None = None, cipher: str = "AES-256") -> bytes:
    if title is not None:
        writer.add_metadata({"/Title": title})
    if password is not None:
        writer.encrypt(user_password=password, owner_password="owner", algorithm=cipher)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()
