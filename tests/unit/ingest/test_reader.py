"""Reading beside the event loop: in a process of its own, with limits that hold."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from services.common.embedding.files import packaged_minilm
from services.common.errors import DomainError, Reason, ResourceExhaustedError
from services.ingest.media import MARKDOWN, PDF
from services.ingest.model import ChunkedDocument, Content, Lane, ReadingTask
from services.ingest.pdf import PdfLimits
from services.ingest.reader import SMALL_TEXT_BYTES, BoundedReader
from services.ingest.reading_process import ReadingLimits
from tests.fakes.ingest import Words
from tests.fakes.pdf import bomb, pdf

HOSTILE = b"[a](" * 100_000
"""Markdown that takes a minute to read."""


def task(media_type: str = PDF, title: str | None = None) -> ReadingTask:
    return ReadingTask(media_type, "docs/a.pdf", title, Lane("default", "", 200, 30))


def content(data: bytes) -> Content:
    return Content(hashlib.sha256(data).digest(), len(data), data)


def new_reader(**changes: object) -> BoundedReader:
    return BoundedReader(Words(), packaged_minilm(), **changes)  # type: ignore[arg-type]


@pytest.fixture
async def reader() -> AsyncIterator[BoundedReader]:
    async with new_reader() as made:
        yield made


def reading_processes() -> list[int]:
    return [child.pid for child in psutil.Process().children() if "services.ingest.reading_process" in child.cmdline()]


async def until(condition: object, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not come to pass"
        await asyncio.sleep(0.01)


async def test_a_process_reads_a_pdf_page_by_page(reader: BoundedReader) -> None:
    read = await reader.read(content(pdf(["The kettle is blue.", "", "The cup is red."], title="Kitchen")), task())

    assert read.title == "Kitchen"
    assert [(page.page, page.text.strip()) for page in read.pages] == [
        (1, "The kettle is blue."),
        (2, ""),
        (3, "The cup is red."),
    ]
    assert [(chunk.page, chunk.content) for chunk in read.chunks] == [
        (1, "The kettle is blue."),
        (3, "The cup is red."),
    ]
    assert list(read.warnings) == ["no text on pages 2: scanned or blank, they cannot be searched"]


async def test_a_process_gives_what_a_thread_gives(reader: BoundedReader) -> None:
    text = ("# Tea\n\nThe “kettle” is on the third floor.\n\n" * 3).encode()
    small, long = text, text * (SMALL_TEXT_BYTES // len(text) + 1)
    async with new_reader() as other:
        apart = await other._read_apart(content(small), task(MARKDOWN))
    here = await reader.read(content(small), task(MARKDOWN))
    read = await reader.read(content(long), task(MARKDOWN))

    assert (apart.title, apart.pages) == (here.title, here.pages)
    assert [chunk.content for chunk in apart.chunks] == [chunk.content for chunk in here.chunks]
    assert read.pages[0].text == long.decode()


async def test_an_open_file_is_read_without_copying_it(reader: BoundedReader, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf(["On disk."]))
    with path.open("rb") as file:
        file.seek(7)
        read = await reader.read(Content(bytes(32), path.stat().st_size, file), task())

    assert read.chunks[0].content == "On disk."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(["secret"], password="pw"), Reason.DOCUMENT_ENCRYPTED),
        (pdf(["", ""]), Reason.DOCUMENT_WITHOUT_TEXT),
        (pdf(["text"])[:300], Reason.DOCUMENT_DAMAGED),
        (b"%PDF-1.7\nnothing else", Reason.DOCUMENT_DAMAGED),
    ],
    ids=["locked", "scan", "cut off", "hollow"],
)
async def test_what_is_wrong_with_a_pdf_crosses_the_process(reader: BoundedReader, data: bytes, reason: Reason) -> None:
    with pytest.raises(DomainError) as caught:
        await reader.read(content(data), task())

    assert caught.value.reason is reason


async def test_hostile_markdown_is_stopped_at_the_time_limit() -> None:
    async with new_reader(limits=ReadingLimits(seconds=2)) as reader:
        started = time.monotonic()
        with pytest.raises(ResourceExhaustedError) as caught:
            await reader.read(content(HOSTILE), task(MARKDOWN))

    assert caught.value.reason is Reason.DOCUMENT_TOO_COMPLEX
    assert time.monotonic() - started < 10
    assert reading_processes() == []


async def test_a_bomb_is_stopped_at_a_limit_and_the_next_document_is_read() -> None:
    """F92."""
    limits = ReadingLimits(seconds=20, memory_bytes=700 * 1024 * 1024)
    async with new_reader(limits=limits) as reader:
        with pytest.raises(DomainError) as caught:
            await reader.read(content(bomb(60)), task())
        read = await reader.read(content(pdf(["Still here."])), task())

    assert caught.value.reason in {Reason.DOCUMENT_TOO_COMPLEX, Reason.DOCUMENT_DAMAGED, Reason.DOCUMENT_TOO_LARGE}
    assert read.chunks[0].content == "Still here."


async def test_memory_beyond_the_limit_ends_the_reading() -> None:
    async with new_reader(limits=ReadingLimits(memory_bytes=300 * 1024 * 1024)) as reader:
        with pytest.raises(ResourceExhaustedError) as caught:
            await reader.read(content(b"word and word.\n" * 1_300_000), task(MARKDOWN))

    assert caught.value.reason is Reason.DOCUMENT_TOO_COMPLEX


@pytest.mark.parametrize("limits", [PdfLimits(pages=2), PdfLimits(characters=20)], ids=["pages", "characters"])
async def test_a_pdf_over_a_limit_is_too_large(limits: PdfLimits) -> None:
    async with new_reader(limits=ReadingLimits(pdf=limits)) as reader:
        with pytest.raises(DomainError) as caught:
            await reader.read(content(pdf(["ten letters"] * 3)), task())

    assert caught.value.reason is Reason.DOCUMENT_TOO_LARGE


async def test_a_caller_who_leaves_takes_the_process_along(reader: BoundedReader) -> None:
    reading = asyncio.create_task(reader.read(content(HOSTILE), task(MARKDOWN)))
    await until(reading_processes)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert reading_processes() == []
    assert (await reader.read(content(pdf(["Next."])), task())).chunks[0].content == "Next."


async def test_a_process_that_is_killed_is_reported_and_replaced(reader: BoundedReader) -> None:
    """As the system does when memory is short."""
    reading = asyncio.create_task(reader.read(content(HOSTILE), task(MARKDOWN)))
    await until(reading_processes)
    psutil.Process(reading_processes()[0]).kill()
    with pytest.raises(ResourceExhaustedError):
        await reading

    assert (await reader.read(content(pdf(["Next."])), task())).chunks[0].content == "Next."


async def test_no_more_documents_wait_than_are_allowed() -> None:
    async with new_reader(most_waiting=1) as reader:
        waiting = [asyncio.create_task(reader.read(content(HOSTILE), task(MARKDOWN))) for _ in range(2)]
        await until(reading_processes)
        with pytest.raises(ResourceExhaustedError) as caught:
            await reader.read(content(HOSTILE), task(MARKDOWN))
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    assert caught.value.reason is Reason.SERVICE_BUSY


async def test_a_process_knows_no_secret_of_the_service(reader: BoundedReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_CONTENT_KEY", "5ec2e7")
    reading = asyncio.create_task(reader.read(content(HOSTILE), task(MARKDOWN)))
    await until(reading_processes)
    environment = psutil.Process(reading_processes()[0]).environ()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)

    assert not [name for name in environment if name.startswith("ATTEST_")]
    assert environment.get("PATH") == os.environ.get("PATH")


async def test_the_event_loop_goes_on_while_a_long_pdf_is_read(reader: BoundedReader) -> None:
    """F54: 300 pages; the bound is generous, since other work shares the machine."""
    line = "The quick brown fox of page {} jumps over the lazy dog and is not seen again."
    data = pdf(["\n".join([line.format(number)] * 8) for number in range(300)])
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before - 0.005)

    watching = asyncio.create_task(watch())
    read: ChunkedDocument = await reader.read(content(data), task())
    watching.cancel()

    assert len(read.pages) == 300
    assert len(read.chunks) >= 300
    assert longest < 0.2
