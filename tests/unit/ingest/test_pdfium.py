"""What PDFium adds to pypdf: pages and files that pypdf cannot read."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.embedding.files import packaged_minilm
from services.common.errors import DomainError, InvalidArgumentError, Reason
from services.ingest.media import PDF
from services.ingest.model import Content, Lane, ReadingTask
from services.ingest.pdf import PdfLimits, PdfText, read_pdf
from services.ingest.pdf_pypdf import by_pypdf
from services.ingest.pdfium import opened
from services.ingest.reader import BoundedReader
from tests.fakes.ingest import Words
from tests.fakes.pdf import pdf

SOUND, BROKEN = b"ET\nendstream", b"[F\nendstream"
"""How a page of `tests.fakes.pdf` ends, and an array without an end that pypdf stumbles over."""


def read(data: bytes, limits: PdfLimits | None = None) -> PdfText:
    return read_pdf(io.BytesIO(data), limits or PdfLimits())


def broken(data: bytes, text: str) -> bytes:
    """Break the page with this text for pypdf."""
    place = data.index(SOUND, data.index(text.encode()))
    return data[:place] + BROKEN + data[place + len(SOUND) :]


def test_a_page_that_pypdf_cannot_read_is_read_and_keeps_its_number() -> None:
    data = broken(pdf(["First.", "Second.", "Third."]), "Second.")

    assert by_pypdf(io.BytesIO(data), PdfLimits())[1] == ["First.", None, "Third."]
    assert [(page.page, page.text) for page in read(data).pages] == [(1, "First."), (2, "Second."), (3, "Third.")]


def test_a_file_whose_every_page_pypdf_cannot_read_is_read() -> None:
    assert read(broken(pdf(["Alone."]), "Alone.")).pages[0].text == "Alone."


def test_a_file_that_pypdf_cannot_open_is_read_with_its_title() -> None:
    data = pdf(["Still there."], title="Annual report").replace(b"startxref", b"startxrff")
    with pytest.raises(InvalidArgumentError):
        by_pypdf(io.BytesIO(data), PdfLimits())

    found = read(data)
    assert (found.title, found.pages[0].text) == ("Annual report", "Still there.")


def test_the_sign_for_a_hyphen_at_the_end_of_a_line_is_never_stored() -> None:
    """F95: what is stored is what pypdf would have stored."""
    lines = "It was a hyphen-\nated word on a line."
    with opened(io.BytesIO(pdf([lines]))) as document:
        raw = document._document[0].get_textpage().get_text_range()

    assert "\ufffe" in raw
    assert read(broken(pdf([lines]), "It was")).pages[0].text == lines == read(pdf([lines])).pages[0].text


@pytest.mark.parametrize("limits", [PdfLimits(characters=15), PdfLimits(pages=1)], ids=["characters", "pages"])
def test_limits_hold_for_both_readers_together(limits: PdfLimits) -> None:
    data = broken(pdf(["Ten signs.", "Ten signs too."]), "Ten signs too.")
    with pytest.raises(InvalidArgumentError) as caught:
        read(data, limits)

    assert caught.value.reason is Reason.DOCUMENT_TOO_LARGE


def test_the_page_limit_holds_where_pdfium_reads_alone() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        read(pdf(["One.", "Two."]).replace(b"startxref", b"startxrff"), PdfLimits(pages=1))

    assert caught.value.reason is Reason.DOCUMENT_TOO_LARGE


def test_where_they_count_the_pages_differently_none_gets_the_text_of_another() -> None:
    data = broken(pdf(["One.", "Two."]), "Two.").replace(b"/Count 2", b"/Count 9")

    assert [page.text for page in read(data).pages] == ["One.", ""]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["sound", "broken", "blank"]), min_size=1, max_size=6))
def test_every_page_that_one_of_them_can_read_is_there(kinds: list[str]) -> None:
    texts = ["" if kind == "blank" else f"This is page {number}." for number, kind in enumerate(kinds, 1)]
    data = pdf(texts)
    for kind, text in zip(kinds, texts, strict=True):
        data = broken(data, text) if kind == "broken" else data
    if not any(texts):
        with pytest.raises(InvalidArgumentError, match="No page of the PDF has text"):
            read(data)
        return

    assert [(page.page, page.text) for page in read(data).pages] == list(enumerate(texts, 1))


@pytest.mark.parametrize("seed", range(6))
async def test_damage_ends_in_a_text_or_a_refusal_and_never_in_a_fault(seed: int) -> None:
    """F92: in the process and under the limits of the service."""
    whole = bytearray(pdf([f"Page {number} of a PDF that was damaged." for number in range(4)]))
    for place in range(seed * 7 + 3, len(whole), 97 - seed * 11):
        whole[place] ^= 1 << (place + seed) % 8
    task = ReadingTask(PDF, "a.pdf", None, Lane("default", "", 200, 30))
    async with BoundedReader(Words(), packaged_minilm()) as reader:
        try:
            found = await reader.read(Content(bytes(32), len(whole), bytes(whole)), task)
        except DomainError as error:
            refused = error.reason
            found = None
    if found is None:
        assert refused in {Reason.DOCUMENT_DAMAGED, Reason.DOCUMENT_WITHOUT_TEXT, Reason.DOCUMENT_ENCRYPTED}
        return
    texts = {page.page: page.text for page in found.pages}
    assert not any("\ufffe" in text or "\0" in text for text in texts.values())
    assert all(texts[chunk.page][chunk.char_start : chunk.char_end] == chunk.content for chunk in found.chunks)
