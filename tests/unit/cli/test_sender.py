"""What goes over the wire for one file."""

import json
from pathlib import Path
from typing import Any

import pytest

from services.cli import content
from services.cli.api import ApiError
from services.cli.collect import Found
from services.cli.sender import Sender
from tests.unit.cli.gateway import ScriptedGateway

INLINE = "POST /api/documents"
UPLOAD = "POST /api/documents/upload"
RESULT = {"outcome": "CREATED", "document": {"document_id": "d1", "version": 1}, "chunks_added": 4}


def found(folder: Path, name: str, content: bytes) -> Found:
    path = folder / name
    path.write_bytes(content)
    return Found(path, f"docs/{name}", len(content))


async def send(
    gateway: ScriptedGateway, file: Found, lane: str | None = None
) -> tuple[dict[str, Any], list[tuple[int, int]]]:
    parts: list[tuple[int, int]] = []
    async with Sender.at(gateway.url, lane) as sender:
        return await sender.send(file, lambda *chunks: parts.append(chunks)), parts


async def test_a_small_text_goes_inline(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.will(INLINE, 200, RESULT)

    await send(gateway, found(tmp_path, "tea.md", "\ufeffTee für zwei\n".encode()), "hr")

    assert gateway.asked[0].json == {
        "source_url": "docs/tea.md",
        "media_type": "text/markdown",
        "content": "Tee für zwei\n",
        "lane": "hr",
    }


async def test_a_pdf_is_uploaded_as_it_is_and_its_progress_is_told(gateway: ScriptedGateway, tmp_path: Path) -> None:
    steps = [{"total_chunks": 4, "embedded_chunks": 1}, {"total_chunks": 4, "embedded_chunks": 3}, {"result": RESULT}]
    gateway.will(UPLOAD, 200, "\n".join(json.dumps(step) for step in steps).encode())

    result, parts = await send(gateway, found(tmp_path, "guide.pdf", b"%PDF-1.7\xff\0"), "hr")

    asked = gateway.asked[0]
    assert asked.params == {"source_url": "docs/guide.pdf", "lane": "hr"}
    assert (asked.headers["content-type"], asked.body) == ("application/pdf", b"%PDF-1.7\xff\0")
    assert (result, parts) == (RESULT, [(1, 4), (3, 4)])


async def test_progress_as_server_sent_events_is_understood_too(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.will(UPLOAD, 200, f"data: {json.dumps({'result': RESULT})}\n\n".encode())

    assert await send(gateway, found(tmp_path, "guide.pdf", b"%PDF")) == (RESULT, [])


async def test_a_large_text_is_uploaded(
    gateway: ScriptedGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "INLINE_BYTES", 100)
    gateway.will(UPLOAD, 200, json.dumps({"result": RESULT}).encode())

    await send(gateway, found(tmp_path, "long.txt", b"x" * 101))

    assert gateway.asked[0].headers["content-type"] == "text/plain"
    assert gateway.asked[0].body == b"x" * 101


async def test_a_refused_upload_says_what_the_service_says(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.refuse(UPLOAD, 400, "INVALID_ARGUMENT", "PDF_ENCRYPTED")

    with pytest.raises(ApiError) as caught:
        await send(gateway, found(tmp_path, "guide.pdf", b"%PDF"))

    assert (caught.value.status, caught.value.reason) == (400, "PDF_ENCRYPTED")


async def test_an_error_after_progress_is_an_error(gateway: ScriptedGateway, tmp_path: Path) -> None:
    error = {"code": "INTERNAL", "reason": "DISK_FULL", "message": "Full."}
    steps = [{"total_chunks": 4, "embedded_chunks": 1, "result": None, "error": None}, {"error": error}]
    gateway.will(UPLOAD, 200, "\n".join(json.dumps(step) for step in steps).encode())

    with pytest.raises(ApiError, match=r"Full\.") as caught:
        await send(gateway, found(tmp_path, "guide.pdf", b"%PDF"))

    assert caught.value.reason == "DISK_FULL"


@pytest.mark.parametrize("ending", [b"", b'{"total_chunks": 4}\n', b'{"resu'])
async def test_an_upload_that_ends_without_a_result_is_no_success(
    gateway: ScriptedGateway, tmp_path: Path, ending: bytes
) -> None:
    gateway.will(UPLOAD, 200, ending)

    with pytest.raises(ApiError) as caught:
        await send(gateway, found(tmp_path, "guide.pdf", b"%PDF"))

    assert caught.value.reason == "CONNECTION_BROKEN"


@pytest.mark.parametrize(("name", "most"), [("a.pdf", 100 * 2**20), ("a.txt", 20 * 2**20), ("a.md", 20 * 2**20)])
async def test_a_file_over_the_limit_is_refused_before_anything_is_sent(
    gateway: ScriptedGateway, tmp_path: Path, name: str, most: int
) -> None:
    with pytest.raises(ApiError) as caught:
        await send(gateway, Found(tmp_path / name, name, most + 1))

    assert caught.value.reason == "DOCUMENT_TOO_LARGE"
    assert gateway.asked == []


async def test_a_text_that_is_not_utf_8_is_refused_with_what_to_do(gateway: ScriptedGateway, tmp_path: Path) -> None:
    with pytest.raises(ApiError, match="iconv"):
        await send(gateway, found(tmp_path, "old.txt", "für".encode("latin-1")))

    assert gateway.asked == []


async def test_a_file_without_text_is_named_as_such(gateway: ScriptedGateway, tmp_path: Path) -> None:
    with pytest.raises(ApiError) as caught:
        await send(gateway, found(tmp_path, "empty.md", b" \n"))

    assert (caught.value.reason, gateway.asked) == ("DOCUMENT_EMPTY", [])


async def test_retry_after_is_read(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.refuse(INLINE, 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED", retry_after="7")

    with pytest.raises(ApiError) as caught:
        await send(gateway, found(tmp_path, "tea.md", b"x"))

    assert caught.value.retry_after == 7


async def test_nobody_there_has_a_name(tmp_path: Path) -> None:
    async with Sender.at("http://127.0.0.1:1", None) as sender:
        with pytest.raises(ApiError) as caught:
            await sender.reach()

    assert caught.value.unreachable
