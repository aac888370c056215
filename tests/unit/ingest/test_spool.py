"""Where documents lie on their way in."""

import asyncio
import threading
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from services.ingest import spool


async def test_a_file_that_is_opened_for_nobody_any_more_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, opened = threading.Event(), threading.Event(), list[BinaryIO]()

    def slow(folder: Path | None) -> BinaryIO:
        begun.set()
        go_on.wait(10)
        opened.append((tmp_path / "spooled").open("w+b"))
        return opened[0]

    async def enter() -> None:
        async with spool.open_spool(tmp_path):
            raise AssertionError("the caller had gone")

    monkeypatch.setattr(spool, "_temporary_file", slow)
    entering = asyncio.create_task(enter())
    await asyncio.to_thread(begun.wait, 10)
    entering.cancel()
    await asyncio.wait([entering])
    go_on.set()

    deadline = time.monotonic() + 10
    while not (opened and opened[0].closed):
        assert time.monotonic() < deadline, "the file stays open"
        await asyncio.sleep(0.01)
    assert entering.cancelled()
