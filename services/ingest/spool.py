"""Documents on their way in lie on disk: a temporary file without a name, which ends with the process at the latest."""

import asyncio
import errno
import hashlib
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import BinaryIO

from services.common.errors import Reason, ResourceExhaustedError
from services.ingest.model import Content

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class FileSpool:
    """Takes a document in pieces."""

    def __init__(self, file: BinaryIO) -> None:
        """Write into an open, empty file."""
        self._file = file
        self._hash = hashlib.sha256()
        self._size = 0

    async def write(self, piece: bytes) -> None:
        """Add a piece; raise ResourceExhaustedError with STORAGE_FULL."""
        await asyncio.to_thread(self._write, piece)

    async def content(self) -> Content:
        """Return what was written."""
        with _room():
            await asyncio.to_thread(self._file.flush)
        return Content(self._hash.digest(), self._size, self._file)

    def _write(self, piece: bytes) -> None:
        with _room():
            self._file.write(piece)
        self._hash.update(piece)
        self._size += len(piece)


@asynccontextmanager
async def open_spool(folder: Path | None = None) -> AsyncIterator[FileSpool]:
    """Lend a spool in `folder`, or where the system keeps temporary files; nothing of it is left after the block."""
    opening = asyncio.create_task(asyncio.to_thread(_temporary_file, folder))
    try:
        file = await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close)
        raise
    try:
        yield FileSpool(file)
    finally:
        file.close()


def _close(opened: asyncio.Task[BinaryIO]) -> None:
    """Close what a thread opened for a caller that has gone meanwhile."""
    if not opened.cancelled() and opened.exception() is None:
        opened.result().close()


@contextmanager
def on_disk(content: bytes, folder: Path | None) -> Iterator[BinaryIO]:
    """Lend the content as an open file; raise ResourceExhaustedError with STORAGE_FULL."""
    with _temporary_file(folder) as file:
        with _room():
            file.write(content)
            file.flush()
        yield file


def _temporary_file(folder: Path | None) -> BinaryIO:
    with _room():
        file: BinaryIO = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # whoever asked closes it
    return file


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise ResourceExhaustedError(
            Reason.STORAGE_FULL, "There is no room to keep the document while it is read; free some, then try again."
        ) from error
