"""What is read of a PDF."""

import io

import pytest

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.media import PDF
from services.ingest.model import Content, Lane, ReadingTask
from services.ingest.pdf import PdfLimits, PdfText, ranges, read_pdf
from services.ingest.reader import read_here
from tests.fakes.ingest import Words
from tests.fakes.pdf import pdf


def read(data: bytes) -> PdfText:
    return read_pdf(io.BytesIO(data), PdfLimits())


@pytest.mark.parametrize("cipher", ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"])
def test_an_empty_password_opens_a_locked_pdf(cipher: str) -> None:
    """F94."""
    assert read(pdf(["Print me not."], password="", cipher=cipher)).pages[0].text == "Print me not."


@pytest.mark.parametrize("cipher", ["RC4-128", "AES-256"])
def test_a_real_password_does_not_look_like_a_broken_file(cipher: str) -> None:
    """F94."""
    with pytest.raises(InvalidArgumentError) as caught:
        read(pdf(["Secret."], password="pw", cipher=cipher))

    assert caught.value.reason is Reason.DOCUMENT_ENCRYPTED


def test_pages_without_text_are_named() -> None:
    """F85: a scan is no success."""
    with pytest.raises(InvalidArgumentError) as caught:
        read(pdf([""] * 3))

    assert caught.value.reason is Reason.DOCUMENT_WITHOUT_TEXT
    assert caught.value.metadata["pages"] == "1-3"


@pytest.mark.parametrize("data", [b"", b"%PDF-", pdf(["a"])[:200], pdf([])], ids=["empty", "head", "cut", "no pages"])
def test_what_is_no_pdf_is_damaged(data: bytes) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        read(data)

    assert caught.value.reason is Reason.DOCUMENT_DAMAGED


def test_a_file_that_lacks_its_end_mark_only_is_read() -> None:
    whole = pdf(["All there."])

    assert read(whole[: whole.rindex(b"%%EOF")]).pages[0].text == "All there."


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("  Annual\treport ", "Annual report"),
        ("Microsoft Word - draft3.doc", ""),
        ("untitled", ""),
        ("report_final.docx", ""),
        ("...", ""),
        (None, ""),
    ],
)
def test_a_title_is_what_a_person_gave(written: str | None, title: str) -> None:
    assert read(pdf(["text"], title=written)).title == title


@pytest.mark.parametrize(
    ("numbers", "written"), [((1,), "1"), ((1, 2, 3, 7, 9, 10), "1-3, 7, 9-10"), (tuple(range(1, 99, 2)), None)]
)
def test_page_numbers_are_written_as_ranges(numbers: tuple[int, ...], written: str | None) -> None:
    said = ranges(numbers)

    assert said == written if written else said.endswith("39, …")


def test_offsets_are_those_of_the_page_and_no_chunk_crosses_pages() -> None:
    """F95."""
    pages = [f"Page {number} begins. " + "It goes on and on\nand does not stop. " * 40 for number in range(1, 4)]
    data = pdf(pages)
    task = ReadingTask(PDF, "a.pdf", None, Lane("default", "", 60, 10))
    chunked = read_here(Content(bytes(32), len(data), data), task, Words(), PdfLimits())
    texts = {page.page: page.text for page in chunked.pages}

    assert {chunk.page for chunk in chunked.chunks} == {1, 2, 3}
    assert [chunk.ordinal for chunk in chunked.chunks] == list(range(len(chunked.chunks)))
    for chunk in chunked.chunks:
        assert texts[chunk.page][chunk.char_start : chunk.char_end] == chunk.content
        assert chunk.embedding_text.startswith("a.pdf\n")


def test_hyphens_and_ligatures_are_mended_in_what_is_searched_only() -> None:
    data = pdf(["A hyphen-\nated word."])
    task = ReadingTask(PDF, "a.pdf", "T", Lane("default", "", 200, 30))
    chunk = read_here(Content(bytes(32), len(data), data), task, Words(), PdfLimits()).chunks[0]

    assert chunk.content == "A hyphen-\nated word."
    assert chunk.embedding_text == "T\nA hyphenated word."
