"""Uploads over a real channel: pieces in, progress out, and nothing left of those that break off."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import grpc
import psutil
import pytest

from attest.ingest.v1 import ingest_service_pb2 as pb
from attest.ingest.v1 import ingest_service_pb2_grpc
from services.common.embedding.files import packaged_minilm
from services.common.errors import Reason
from services.common.identity import Scope
from services.common.rpc import context as call_context
from services.common.rpc.client import channel
from services.common.rpc.server import ServerSettings, Service, build
from services.common.rpc.status import error_of
from services.ingest.ingest import IngestDocument
from services.ingest.library import Library as LibraryUseCase
from services.ingest.model import EmbeddedVector
from services.ingest.reader import BoundedReader
from services.ingest.servicer import SCOPES, SERVICE_NAME, IngestServicer
from services.ingest.spaces import Spaces
from services.ingest.spool import open_spool
from services.ingest.upload import UploadDocument
from tests.fakes.ingest import CountingEmbedder, Words
from tests.fakes.library import FakeDocumentStore, FakeLibraryStore, FakeSpaceStore, FakeVectorCache, Library
from tests.fakes.pdf import pdf
from tests.rpc.shapes import as_told

MODEL = "words"


class StallingEmbedder(CountingEmbedder):
    """Embeds some texts and then nothing more until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.stalls_after: int | None = None
        self.stalled = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> Sequence[EmbeddedVector]:
        if self.stalls_after is not None and len(self.texts) >= self.stalls_after:
            self.stalled.set()
            await asyncio.Event().wait()
        return await super().embed(texts)


class Desk:
    """A served ingest over a library in memory."""

    def __init__(self, folder: Path, opened: grpc.aio.Channel, library: Library, embedder: StallingEmbedder) -> None:
        self.folder = folder
        self.stub = ingest_service_pb2_grpc.IngestServiceStub(opened)
        self.library = library
        self.embedder = embedder

    async def upload(self, data: bytes, size: int = 64 * 1024, **fields: str) -> list[pb.UploadDocumentResponse]:
        messages: list[pb.UploadDocumentResponse] = []
        await self.gather(messages, data, size, **fields)
        return messages

    async def gather(
        self, messages: list[pb.UploadDocumentResponse], data: bytes, size: int = 64 * 1024, **fields: str
    ) -> None:
        """Upload and add each message as it comes, so that those before a failure are there after it."""

        async def attempt() -> None:
            messages.clear()
            async for message in self.stub.UploadDocument(pieces(data, size, **fields)):
                messages.append(message)  # noqa: PERF401  # what came before a failure is wanted

        await as_told(attempt)

    def spooled(self) -> list[str]:
        """Return the open files of the folder; they have no name in it."""
        targets = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        return [target for target in targets if target.startswith(str(self.folder))]


def pieces(data: bytes, size: int = 64 * 1024, **fields: str) -> Iterable[pb.UploadDocumentRequest]:
    content_type = fields.pop("content_type", "")
    for start in range(0, len(data), size):
        request = pb.UploadDocumentRequest(**(fields if start == 0 else {}))
        request.data.data = data[start : start + size]
        request.data.content_type = content_type
        yield request


@asynccontextmanager
async def served(folder: Path, scopes: frozenset[Scope]) -> AsyncIterator[Desk]:
    library, embedder = Library(), StallingEmbedder()
    library.activate(MODEL, 2)
    store, cache = FakeDocumentStore(library), FakeVectorCache(library)
    async with BoundedReader(Words(), packaged_minilm(), folder=folder) as reader:
        ingest = IngestDocument(store, cache, embedder, reader, model=MODEL, content_key=b"k" * 32)
        upload = UploadDocument(store, ingest, partial(open_spool, folder), time.monotonic)
        servicer = IngestServicer(
            ingest, upload, LibraryUseCase(FakeLibraryStore(library)), Spaces(FakeSpaceStore(library))
        )
        server = build(ServerSettings("", scopes, 0.0, 1.0), Service(SERVICE_NAME, lambda _: None, SCOPES))
        ingest_service_pb2_grpc.add_IngestServiceServicer_to_server(servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            async with channel(f"dns:///127.0.0.1:{port}") as opened:
                yield Desk(folder, opened, library, embedder)
        finally:
            await server.stop(0)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with served(tmp_path, frozenset(Scope)) as made:
        yield made


async def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        await asyncio.sleep(0.01)


def long_text(parts: int = 40) -> bytes:
    return "".join(f"# Part {part}\n\n" + f"Sentence {part} is here. " * 30 + "\n\n" for part in range(parts)).encode()


def reading_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "services.ingest.reading_process" in child.cmdline()]


async def test_a_pdf_in_pieces_is_ingested_with_its_pages(desk: Desk) -> None:
    """F35: the reading process is started while a server and a channel are there."""
    data = pdf(["The kettle is blue.", "The cup is red."], title="Kitchen")
    messages = await desk.upload(data, size=100, filename="kitchen.txt")
    last = messages[-1]

    assert last.result.outcome == pb.IngestOutcome.CREATED
    assert (last.result.document.title, last.result.document.page_count) == ("Kitchen", 2)
    assert (last.received_bytes, last.embedded_chunks, last.total_chunks) == (len(data), 2, 2)
    assert not any(message.HasField("result") or message.HasField("error") for message in messages[:-1])


async def test_the_same_bytes_again_are_unchanged_without_embedding(desk: Desk) -> None:
    data = pdf(["The kettle is blue."])
    await desk.upload(data, filename="a.pdf")
    embedded = len(desk.embedder.texts)
    again = (await desk.upload(data, filename="a.pdf"))[-1]

    assert again.result.outcome == pb.IngestOutcome.UNCHANGED
    assert len(desk.embedder.texts) == embedded


async def test_no_message_at_all_is_refused_by_name(desk: Desk) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await desk.upload(b"")

    error = error_of(caught.value)
    assert error is not None
    assert error.reason is Reason.FIELD_MISSING


async def test_warnings_reach_the_caller(desk: Desk) -> None:
    last = (await desk.upload(pdf(["text", ""]), filename="a.pdf"))[-1]

    assert list(last.result.warnings) == ["no text on pages 2: scanned or blank, they cannot be searched"]


async def test_a_caller_who_leaves_while_pieces_come_leaves_nothing(desk: Desk) -> None:
    async def endless() -> AsyncIterator[pb.UploadDocumentRequest]:
        yield pb.UploadDocumentRequest(filename="a.txt")
        while True:
            request = pb.UploadDocumentRequest()
            request.data.data = b"text " * 1000
            yield request
            await asyncio.sleep(0.01)

    call = desk.stub.UploadDocument(endless())
    await until(desk.spooled)
    call.cancel()
    await until(lambda: not desk.spooled())

    assert desk.library.shelves == {}
    assert list(desk.folder.iterdir()) == []


async def test_a_caller_who_leaves_while_it_is_read_takes_the_process_along(desk: Desk) -> None:
    call = desk.stub.UploadDocument(pieces(b"[a](" * 100_000, filename="a.md"))
    await until(reading_processes)
    call.cancel()
    await until(lambda: not reading_processes() and not desk.spooled())

    assert desk.library.shelves == {}


async def test_an_upload_that_was_cut_off_is_resumed_by_sending_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_context, "DEFAULT_DEADLINE_SECONDS", 3.0)
    desk.embedder.stalls_after = 32
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await desk.upload(long_text(), filename="a.md")
    first = list(desk.embedder.texts)
    assert desk.library.shelves == {}

    desk.embedder.stalls_after = None
    last = (await desk.upload(long_text(), filename="a.md"))[-1]

    error = error_of(caught.value)
    assert error is not None
    assert error.reason is Reason.DEADLINE_EXCEEDED
    assert "Send it again" in error.message
    assert len(first) == 32
    assert len(desk.embedder.texts) == last.result.document.chunk_count
    assert last.result.outcome == pb.IngestOutcome.CREATED


async def test_a_failure_after_the_first_message_is_told_in_band_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.ingest.upload._PAUSE_SECONDS", 0.0)
    messages: list[pb.UploadDocumentResponse] = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await desk.gather(messages, pdf([""]), filename="scan.pdf")

    error = error_of(caught.value)
    assert error is not None
    assert (messages[-1].error.code, messages[-1].error.reason) == ("INVALID_ARGUMENT", error.reason.value)
    assert messages[-1].error.message == error.message
    assert error.reason is Reason.DOCUMENT_WITHOUT_TEXT


async def test_a_failure_before_the_first_message_is_a_status_alone(desk: Desk) -> None:
    messages: list[pb.UploadDocumentResponse] = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await desk.gather(messages, b"\x89PNG", filename="a.png", content_type="image/png")

    assert messages == []
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_an_upload_needs_the_scope_to_ingest(tmp_path: Path) -> None:
    async with served(tmp_path, frozenset({Scope.ASK})) as desk:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await desk.upload(b"text", filename="a.txt")

    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
