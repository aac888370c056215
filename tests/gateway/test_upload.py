"""Uploads over REST and gRPC: what arrives, when progress is seen, and where it ends."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from attest.ingest.v1 import ingest_service_pb2 as pb
from attest.ingest.v1 import ingest_service_pb2_grpc
from tests.gateway.envoy import DEADLINE_S, Gateway, run_gateway

PATH = "/api/documents/upload"
PDF = {"content-type": "application/pdf"}
MIB = 2**20


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


class Upload:
    """An upload that is sent piece by piece while its reply is read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, piece: bytes) -> None:
        self.writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await self.writer.drain()

    async def head(self) -> str:
        return (await self.until(b"\r\n\r\n")).decode()

    async def line(self) -> dict[str, Any]:
        """Return the next chunk of the reply, which is a line."""
        size = int(await self.until(b"\r\n"), 16)
        body = await asyncio.wait_for(self.reader.readexactly(size + 2), DEADLINE_S)
        found: dict[str, Any] = json.loads(body)
        return found

    async def until(self, mark: bytes) -> bytes:
        return await asyncio.wait_for(self.reader.readuntil(mark), DEADLINE_S)


@asynccontextmanager
async def begun(gateway: Gateway, path: str = PATH) -> AsyncIterator[Upload]:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    try:
        writer.write(
            f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/pdf\r\n"
            "transfer-encoding: chunked\r\n\r\n".encode()
        )
        yield Upload(reader, writer)
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_an_upload_arrives_with_its_fields_and_its_reply_is_lines(gateway: Any, script: Any) -> None:
    query = "?lane=default&source_url=a%2Fb.pdf&title=Two+words&filename=b.pdf&utm_source=x"

    response = await gateway.send("POST", PATH + query, content=b"%PDF-1.7\n\x00\xff", headers=PDF)

    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    first = script.calls[0].request
    assert (first.lane, first.source_url, first.title, first.filename) == ("default", "a/b.pdf", "Two words", "b.pdf")
    assert (first.data.content_type, first.data.data) == ("application/pdf", b"%PDF-1.7\n\x00\xff")
    replies = lines(response.text)
    assert replies[0] == {"received_bytes": 11, "embedded_chunks": 0, "total_chunks": 0}
    assert replies[-1]["result"]["outcome"] == "CREATED"


@pytest.mark.parametrize(
    "media", ["application/pdf", "text/Markdown", "Text/Plain; charset=utf-8", "application/octet-stream"]
)
async def test_content_types_of_documents_are_taken(gateway: Any, script: Any, media: str) -> None:
    response = await gateway.send("POST", PATH, content=b"text", headers={"content-type": media})

    assert response.status_code == 200, response.text
    assert script.calls[0].request.data.content_type == media


@pytest.mark.parametrize(
    "media",
    [
        "application/json",
        "text/html",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "application/pdf, text/html",
        "application/pdfx",
        "",
    ],
)
async def test_other_content_types_are_refused(gateway: Any, script: Any, failure: Any, media: str) -> None:
    response = await gateway.send("POST", PATH, content=b"text", headers={"content-type": media} if media else {})

    failure(response, 415, "INVALID_ARGUMENT", "MEDIA_TYPE_UNSUPPORTED")
    assert "application/pdf" in response.json()["error"]
    assert not script.calls


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost.evil.example"},
        {"origin": "http://localhost", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_page_of_another_site_may_not_upload(
    gateway: Any, script: Any, failure: Any, headers: dict[str, str]
) -> None:
    """A browser sends text/plain anywhere without asking."""
    sent = {"host": "localhost:1", "content-type": "text/plain", **headers}

    response = await gateway.send("POST", PATH + "?filename=a", content=b"text", headers=sent)

    failure(response, 403, "PERMISSION_DENIED", "ORIGIN_NOT_ALLOWED")
    assert not script.calls


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8080", "origin": "http://localhost:8080"},
        {"host": "[::1]:8080", "origin": "http://[::1]:8080"},
        {"host": "localhost:8080", "origin": "http://localhost:8080", "sec-fetch-site": "same-origin"},
        {"host": "localhost:8080", "sec-fetch-site": "none"},
    ],
)
async def test_the_stacks_own_page_may_upload(gateway: Any, headers: dict[str, str]) -> None:
    response = await gateway.send("POST", PATH, content=b"text", headers={**PDF, **headers})

    assert response.status_code == 200, response.text


@pytest.mark.parametrize("query", ["?data=x", "?data.content_type=x", "?lang=de", "?lane=a&lane=b", "?title=%"])
async def test_other_parameters_are_refused(gateway: Any, script: Any, failure: Any, query: str) -> None:
    response = await gateway.send("POST", PATH + query, content=b"text", headers=PDF)

    assert response.status_code == 400
    assert not script.calls


async def test_progress_is_seen_while_the_body_is_sent(gateway: Any) -> None:
    """F61: the first line is there before the second piece."""
    async with begun(gateway) as upload:
        await upload.send(b"x" * 1000)
        head = await upload.head()
        first = await upload.line()
        await upload.send(b"y" * 500)
        second = await upload.line()
        await upload.send(b"")
        last = await upload.line()

    assert head.startswith("HTTP/1.1 200")
    assert (first["received_bytes"], second["received_bytes"]) == (1000, 1500)
    assert last["result"]["outcome"] == "CREATED"


async def test_a_slow_upload_that_is_answered_is_not_cut(
    upstream: Any, altered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time for a whole request, here 1 s in place of 60, ends with the first line of the reply."""
    from services.cli.stack import gateway as stack_gateway

    monkeypatch.setattr(stack_gateway, "SOURCE", altered("envoy.yaml", "request_timeout: 60s", "request_timeout: 1s"))
    async for gateway in run_gateway(upstream, tmp_path):
        async with begun(gateway) as upload:
            await upload.send(b"x")
            await upload.head()
            started = asyncio.get_running_loop().time()
            pieces = 0
            while asyncio.get_running_loop().time() < started + 1.5:
                await upload.send(b"x")
                pieces += 1
                await upload.line()
                await asyncio.sleep(0.1)
            await upload.send(b"")
            last: dict[str, Any] = {}
            while "result" not in last:
                last = await upload.line()

    assert last["received_bytes"] == pieces + 1


async def test_a_large_upload_goes_through_and_is_not_kept(gateway: Any, script: Any) -> None:
    """100 MiB arrive, and the gateway's own memory grows by less than half of it: a few buffers of 4 MiB."""

    def resident() -> int:
        status = Path(f"/proc/{gateway.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    async def body() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield bytes(MIB)

    before = resident()
    response = await gateway.send("POST", PATH, content=body(), headers={**PDF, "content-length": str(100 * MIB)})

    assert response.status_code == 200, response.text
    assert lines(response.text)[-1]["received_bytes"] == 100 * MIB
    assert resident() - before < 50 * MIB


async def test_a_slow_service_holds_the_sender_back(gateway: Any, script: Any) -> None:
    """The gateway takes no more than it can hand on."""
    go_on = asyncio.Event()

    async def wait_first(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        await go_on.wait()
        async for response in script.count(requests, context):
            yield response

    script.reception = wait_first
    async with begun(gateway) as upload:
        sent = 0
        try:
            async with asyncio.timeout(1):
                for _ in range(60):
                    await upload.send(bytes(MIB))
                    sent += 1
        except TimeoutError:
            held_back = True
        else:
            held_back = False
        go_on.set()

    assert held_back, sent


async def test_an_upload_over_its_limit_is_refused_at_once(gateway: Any, script: Any, failure: Any) -> None:
    """F58, F63."""
    request = (
        f"POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/pdf\r\n"
        f"content-length: {100 * MIB + 1}\r\n\r\n"
    )
    head, _, body = (await gateway.raw(request.encode())).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 413")
    assert json.loads(body)["reason"] == "REQUEST_TOO_LARGE"
    assert not script.calls


async def test_a_failure_before_the_first_line_has_a_status(gateway: Any, script: Any, failure: Any) -> None:
    """F59."""

    async def refuse(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        script.fail("refuse", grpc.StatusCode.NOT_FOUND, "The lane is not known.", "LANE_UNKNOWN")
        await script.behaviours["refuse"](None, context)
        yield

    script.reception = refuse
    response = await gateway.send("POST", PATH + "?lane=x", content=b"text", headers=PDF)

    failure(response, 404, "NOT_FOUND", "LANE_UNKNOWN")


async def test_a_failure_after_the_first_line_is_the_last_line(gateway: Any, script: Any) -> None:
    """F59: the status has left; the line says what went wrong."""

    async def fail(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for piece in requests:
            yield pb.UploadDocumentResponse(received_bytes=len(piece.data.data))
        error = pb.UploadDocumentResponse.Error(code="INVALID_ARGUMENT", reason="DOCUMENT_EMPTY", message="No text.")
        yield pb.UploadDocumentResponse(error=error)
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "No text.")

    script.reception = fail
    response = await gateway.send("POST", PATH, content=b"text", headers=PDF)

    assert lines(response.text)[-1]["error"] == {
        "code": "INVALID_ARGUMENT",
        "reason": "DOCUMENT_EMPTY",
        "message": "No text.",
    }


async def test_an_empty_upload_reaches_the_service(gateway: Any, script: Any) -> None:
    response = await gateway.send("POST", PATH, content=b"", headers=PDF)

    assert response.status_code == 200, response.text
    assert "result" in lines(response.text)[-1]


async def test_a_sender_that_leaves_ends_the_call(gateway: Any, script: Any, wait_until: Any) -> None:
    """F49."""
    left = asyncio.Event()

    async def watch(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        try:
            async for response in script.count(requests, context):
                yield response
        finally:
            left.set()

    script.reception = watch
    async with begun(gateway) as upload:
        await upload.send(b"x")
        await upload.head()

    await asyncio.wait_for(left.wait(), DEADLINE_S)


@pytest.mark.parametrize(("given", "least", "most"), [(None, 115, 121), ("7S", 5, 8), ("5H", 115, 121)])
async def test_an_upload_has_the_longest_deadline_or_the_senders(
    gateway: Any, script: Any, given: str | None, least: float, most: float
) -> None:
    """F49, F62."""
    headers = {**PDF, **({"grpc-timeout": given} if given else {})}

    await gateway.send("POST", PATH + "?title=x", content=b"text", headers=headers)

    assert least < script.calls[0].seconds_left < most


@pytest.mark.parametrize(("method", "least", "most"), [("IngestDocument", 115, 121), ("ListDocuments", 25, 31)])
async def test_a_native_call_without_a_deadline_gets_that_of_its_rest_twin(
    gateway: Any, script: Any, method: str, least: float, most: float
) -> None:
    """F49."""
    async with asyncio.timeout(DEADLINE_S):
        await gateway.grpc(f"attest.ingest.v1.IngestService/{method}", deadline=None)

    assert least < script.calls[0].seconds_left < most


async def test_an_upload_counts_as_a_document(limited_gateway: Any, failure: Any) -> None:
    """Five a minute here."""
    for _ in range(5):
        assert (await limited_gateway.send("POST", PATH, content=b"x", headers=PDF)).status_code == 200

    refused = await limited_gateway.send("POST", PATH, content=b"x", headers=PDF)

    failure(refused, 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED")
    failure(await limited_gateway.post("/api/documents", {}), 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED")
    assert (await limited_gateway.get("/api/documents")).status_code == 200


def pieces(mebibytes: int) -> Iterator[Any]:
    for _ in range(mebibytes):
        piece = pb.UploadDocumentRequest()
        piece.data.data = bytes(MIB)
        yield piece


async def test_a_native_upload_is_taken_up_to_its_limit(gateway: Any, script: Any) -> None:
    """F33: in pieces, as one message could not be."""
    async with gateway.channel() as channel:
        stub = ingest_service_pb2_grpc.IngestServiceStub(channel)
        async with asyncio.timeout(30):
            received = [response.received_bytes async for response in stub.UploadDocument(pieces(100))]

    assert received[-1] == 100 * MIB
    assert 115 < script.calls[0].seconds_left < 121


async def test_the_gateway_ends_an_upload_that_the_service_does_not_end(
    gateway: Any, script: Any, failure: Any
) -> None:
    """The service says what is too large; behind it stands a limit that no sender gets past."""

    async def swallow(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for _ in requests:
            pass
        yield pb.UploadDocumentResponse()

    script.reception = swallow
    async with gateway.channel() as channel:
        stub = ingest_service_pb2_grpc.IngestServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            [response async for response in stub.UploadDocument(pieces(112), timeout=30)]
    async with begun(gateway) as upload:
        refused = asyncio.create_task(upload.head())
        with contextlib.suppress(ConnectionError):
            for _ in range(112):
                await upload.send(bytes(MIB))
        head = await refused

    # Whether the refusal or the end of the stream behind it is seen first is a matter of milliseconds.
    assert caught.value.code() in {
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
    }
    assert head.startswith("HTTP/1.1 413")
