"""Sends one file to the gateway: small texts inline, PDFs and large texts as a stream with progress."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx2

from services.cli.api import TIMEOUT_SECONDS, ApiError, Progress, named_failures, result
from services.cli.collect import Found
from services.cli.content import is_inline, refuse_by_size, text_of

_PIECE_BYTES = 256 * 1024


class Sender:
    """Ingests files over REST; `send` raises ApiError, also for a file that need not be sent to be refused."""

    def __init__(self, client: httpx2.AsyncClient, lane: str | None) -> None:
        """Take a client whose base URL is the gateway's, and the lane, where it is not the default one."""
        self._client = client
        self._lane = {"lane": lane} if lane else {}

    @classmethod
    @asynccontextmanager
    async def at(cls, url: str, lane: str | None) -> AsyncIterator[Self]:
        """Open connections to the gateway at `url`."""
        async with httpx2.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            yield cls(client, lane)

    async def reach(self) -> None:
        """Ask whether the gateway is there."""
        with named_failures(str(self._client.base_url)):
            await self._client.get("/healthz")

    async def send(self, file: Found, progress: Progress) -> dict[str, Any]:
        """Ingest one file and return the service's result."""
        refuse_by_size(file)
        if is_inline(file):
            content = text_of(await asyncio.to_thread(file.path.read_bytes))
            body = {"source_url": file.source_url, "media_type": file.media_type, "content": content, **self._lane}
            with named_failures(str(self._client.base_url)):
                response = await self._client.post("/api/documents", json=body)
            return result(response)
        return await self._upload(file, progress)

    async def _upload(self, file: Found, progress: Progress) -> dict[str, Any]:
        params = {"source_url": file.source_url, **self._lane}
        headers = {"content-type": file.media_type, "content-length": str(file.size)}
        with named_failures(str(self._client.base_url)):
            async with self._client.stream(
                "POST", "/api/documents/upload", params=params, headers=headers, content=_pieces(file)
            ) as response:
                if not response.is_success:
                    await response.aread()
                    return result(response)
                return await _last_result(response.aiter_lines(), progress)


async def _last_result(lines: AsyncIterator[str], progress: Progress) -> dict[str, Any]:
    """Read the progress of an upload, one JSON message a line, until the one with the result."""
    async for line in lines:
        message = _message(line)
        if message.get("error"):
            raise _in_band(message["error"])
        if message.get("result"):
            return dict(message["result"])
        total = message.get("total_chunks", 0)
        if total:
            progress(message.get("embedded_chunks", 0), total)
    message_text = "The upload ended without a result; send it again: what was embedded is not embedded again."
    raise ApiError(0, "UNAVAILABLE", "CONNECTION_BROKEN", message_text)


def _message(line: str) -> dict[str, Any]:
    """Return the message of a line, `data:` of server-sent events before it or not; empty lines say nothing."""
    text = line.removeprefix("data:").strip()
    try:
        return dict(json.loads(text)) if text else {}
    except (ValueError, TypeError):
        return {}


def _in_band(error: dict[str, Any]) -> ApiError:
    """Return the error that ends an upload whose status line was long gone."""
    return ApiError(200, error["code"], error["reason"], error["message"])


async def _pieces(file: Found) -> AsyncIterator[bytes]:
    """Yield the bytes that the file had when it was found; the connection fails when it has become shorter."""
    left = file.size
    opened = await asyncio.to_thread(file.path.open, "rb")
    try:
        while left and (piece := await asyncio.to_thread(opened.read, min(_PIECE_BYTES, left))):
            left -= len(piece)
            yield piece
    finally:
        opened.close()
