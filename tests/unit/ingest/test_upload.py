"""An upload: what is taken, what is refused and when, and what is said meanwhile."""

from collections.abc import AsyncIterator, Iterable

import pytest

from services.common.errors import DomainError, InvalidArgumentError, NotFoundError, Reason
from services.ingest.ingest import IngestDocument
from services.ingest.media import PDF, PLAIN_TEXT
from services.ingest.model import Outcome
from services.ingest.request import UploadHeader
from services.ingest.upload import MAX_PDF_BYTES, MAX_TEXT_BYTES, UploadDocument, Uploaded, UploadProgress
from tests.fakes.ingest import CountingEmbedder, ReaderHere, memory_spool
from tests.fakes.library import FakeDocumentStore, FakeVectorCache, Library
from tests.fakes.pdf import pdf

MODEL = "words"


class Desk:
    """An upload use-case over a library in memory, and what its listener heard."""

    def __init__(self, step_seconds: float = 1.0) -> None:
        self.library = Library()
        self.library.activate(MODEL, 2)
        self.embedder = CountingEmbedder()
        self.heard: list[UploadProgress] = []
        self.taken = 0
        self._now = 0.0
        self._step = step_seconds
        store = FakeDocumentStore(self.library)
        cache = FakeVectorCache(self.library)
        ingest = IngestDocument(store, cache, self.embedder, ReaderHere(), model=MODEL, content_key=b"k" * 32)
        self._upload = UploadDocument(store, ingest, memory_spool, self._clock)

    async def upload(self, *pieces: bytes, **changes: str) -> Uploaded:
        return await self._upload(header(**changes), self._each(pieces), self._hear)

    async def _each(self, pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
        for piece in pieces:
            self.taken += 1
            yield piece

    async def _hear(self, progress: UploadProgress) -> None:
        self.heard.append(progress)

    def _clock(self) -> float:
        self._now += self._step
        return self._now


def header(**changes: str) -> UploadHeader:
    fields = {"tenant": "default", "lane": "", "source_url": "a.md", "title": "", "filename": "", "content_type": ""}
    return UploadHeader.checked(**(fields | changes))


async def test_pieces_make_the_document_they_were_cut_from() -> None:
    desk = Desk()
    done = await desk.upload("# Küche\n\nDie ".encode()[:3], "# Küche\n\nDie ".encode()[3:], b"Kanne ist blau.\n")

    assert done.result.outcome is Outcome.CREATED
    assert done.result.document.title == "Küche"
    assert done.progress.received_bytes == len("# Küche\n\nDie Kanne ist blau.\n".encode())
    assert done.progress.embedded_chunks == done.progress.total_chunks == done.result.document.chunk_count


async def test_the_same_bytes_by_pieces_or_inline_are_the_same_content() -> None:
    desk = Desk()
    first = await desk.upload(b"# Tea\n\nHot.\n")
    again = await desk.upload(b"# Tea", b"\n\nHot.\n")

    assert (first.result.outcome, again.result.outcome) == (Outcome.CREATED, Outcome.UNCHANGED)
    assert again.progress.total_chunks == 0
    assert len(desk.embedder.texts) == first.result.document.chunk_count


async def test_a_pdf_named_txt_is_a_pdf() -> None:
    done = await Desk().upload(pdf(["On a page."]), filename="notes.txt", content_type="text/plain")

    assert done.result.document.media_type == PDF
    assert done.result.document.page_count == 1


async def test_a_document_without_an_address_is_kept_under_its_name() -> None:
    done = await Desk().upload(b"text", source_url="", filename="My notes.txt")

    assert (done.result.document.source_url, done.result.document.title) == ("My%20notes.txt", "My notes.txt")
    assert done.result.document.media_type == PLAIN_TEXT


async def test_the_name_is_the_title_of_a_document_with_another_address() -> None:
    done = await Desk().upload(b"text", source_url="https://h.example/get?id=1", filename="notes.txt")

    assert done.result.document.title == "notes.txt"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"source_url": ""}, Reason.FIELD_MISSING),
        ({"source_url": "a b"}, Reason.FIELD_INVALID),
        ({"title": "t" * 301}, Reason.FIELD_OUT_OF_RANGE),
        ({"filename": "f" * 1025}, Reason.FIELD_OUT_OF_RANGE),
        ({"lane": "No Lane"}, Reason.FIELD_INVALID),
    ],
)
def test_a_wrong_header_is_refused_by_field(changes: dict[str, str], reason: Reason) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        header(**changes)

    assert caught.value.reason is reason


async def test_an_unknown_lane_is_refused_before_anything_is_taken() -> None:
    desk = Desk()
    with pytest.raises(NotFoundError):
        await desk.upload(b"text", lane="hr")

    assert desk.taken == 0


@pytest.mark.parametrize(
    ("first", "most"), [(b"%PDF-1.7" + bytes(1016), MAX_PDF_BYTES), (b"t" * 1024, MAX_TEXT_BYTES)], ids=["pdf", "text"]
)
async def test_what_is_too_large_is_refused_as_soon_as_it_is(first: bytes, most: int) -> None:
    desk, piece = Desk(), bytes(4 * 1024 * 1024)
    with pytest.raises(InvalidArgumentError) as caught:
        await desk.upload(first, *[piece] * 40)

    assert caught.value.reason is Reason.DOCUMENT_TOO_LARGE
    assert desk.taken == most // len(piece) + 1


@pytest.mark.parametrize(
    ("pieces", "reason"),
    [
        ((), Reason.FIELD_MISSING),
        ((b"", b""), Reason.FIELD_MISSING),
        ((b" \n ",), Reason.DOCUMENT_EMPTY),
        ((b"\x89PNG\r\n\x1a\n\x00\xff",), Reason.TEXT_MALFORMED),
    ],
    ids=["nothing", "empty pieces", "blank", "binary"],
)
async def test_what_holds_no_text_is_refused(pieces: tuple[bytes, ...], reason: Reason) -> None:
    desk = Desk()
    with pytest.raises(DomainError) as caught:
        await desk.upload(*pieces)

    assert caught.value.reason is reason
    assert desk.library.shelves == {}


async def test_text_in_utf_16_is_read_by_its_mark() -> None:
    done = await Desk().upload("# Größe\n\nZwei.".encode("utf-16"))

    assert done.result.document.title == "Größe"


async def test_progress_is_told_at_a_pace() -> None:
    eager, calm = Desk(step_seconds=0.3), Desk(step_seconds=0.01)
    for desk in (eager, calm):
        await desk.upload(*[b"text "] * 30)

    assert [progress.received_bytes for progress in eager.heard[:3]] == [5, 10, 15]
    assert len(calm.heard) < 5


async def test_what_is_embedded_is_told_between_batches() -> None:
    desk = Desk()
    await desk.upload(b"".join(b"# Part %d\n\n" % part + b"word " * 150 + b"\n\n" for part in range(70)))
    told = [(progress.embedded_chunks, progress.total_chunks) for progress in desk.heard if progress.total_chunks]

    assert told[0] == (0, 70)
    assert told == sorted(told)
    assert (32, 70) in told
    assert (64, 70) in told
