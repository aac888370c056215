"""Reads documents beside the event loop: small texts in a thread, all else in a bounded number of processes."""

import asyncio
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from services.common.embedding.counters import TokenizerSource
from services.common.errors import Reason, ResourceExhaustedError
from services.ingest.media import PDF
from services.ingest.model import ChunkedDocument, Content, ReadingTask
from services.ingest.pdf import PdfLimits
from services.ingest.ports import TokenCounter
from services.ingest.reading import read_and_chunk
from services.ingest.reading_lines import ReadingError, document_of
from services.ingest.reading_process import LIMITS, ReadingLimits, ReadingOrder, too_complex
from services.ingest.spool import on_disk

SMALL_TEXT_BYTES = 32 * 1024
"""Largest text that is read in a thread, which nothing can stop: the most hostile one takes a second or two."""

_COMMAND = (sys.executable, "-I", "-m", "services.ingest.reading_process")
_ENVIRONMENT = {
    # Each thread's arena would count against the limit of memory.
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "TMPDIR")
"""No secret of the service is handed to a process that a document might take over."""


class BoundedReader:
    """A `DocumentReader` that a hostile document can neither stop nor fill; use as `async with BoundedReader(…)`.

    A reading process is started by executing the interpreter anew, never by a bare fork (F35), and killed when its
    time is over or its caller has gone.
    """

    def __init__(
        self,
        tokens: TokenCounter,
        tokenizer: TokenizerSource,
        *,
        processes: int = 1,
        most_waiting: int = 16,
        limits: ReadingLimits = LIMITS,
        folder: Path | None = None,
    ) -> None:
        """Take the counter for threads and what processes make the same one of; `folder` for large content."""
        self._tokens = tokens
        self._tokenizer = tokenizer
        self._limits = limits
        self._folder = folder
        self._most = processes + most_waiting
        self._under_way = 0
        self._slots = asyncio.Semaphore(processes)
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="reading")

    async def __aenter__(self) -> Self:
        """Do nothing: a process is started when there is something to read."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the threads; what was being read has been cancelled and killed by now."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)

    async def read(self, content: Content, task: ReadingTask) -> ChunkedDocument:
        """Return the document with its chunks.

        Raises what `read_and_chunk` does, ResourceExhaustedError with DOCUMENT_TOO_COMPLEX at a limit of time or
        memory, and with SERVICE_BUSY when too many documents wait.
        """
        if content.size <= SMALL_TEXT_BYTES and task.media_type != PDF:
            return await asyncio.to_thread(read_here, content, task, self._tokens, self._limits.pdf)
        if self._under_way >= self._most:
            raise ResourceExhaustedError(Reason.SERVICE_BUSY, "Too many documents wait to be read; try again.")
        self._under_way += 1
        try:
            async with self._slots:
                return await self._read_apart(content, task)
        finally:
            self._under_way -= 1

    async def _read_apart(self, content: Content, task: ReadingTask) -> ChunkedDocument:
        reading = _Reading(content, task, self._limits, self._tokenizer, self._folder)
        running = asyncio.get_running_loop().run_in_executor(self._threads, reading)
        try:
            done, _ = await asyncio.wait([running], timeout=self._limits.wall_seconds)
        finally:
            reading.kill()
            await asyncio.wait([running])
        read = running.result()
        if read is None or not done:
            raise too_complex()
        return read


def read_here(content: Content, task: ReadingTask, tokens: TokenCounter, limits: PdfLimits) -> ChunkedDocument:
    """Read on the calling thread."""
    if isinstance(content.data, bytes):
        return read_and_chunk(io.BytesIO(content.data), task, tokens, limits)
    content.data.seek(0)
    return read_and_chunk(content.data, task, tokens, limits)


class _Reading:
    """One document in one process, to be waited for by a thread and killed from another."""

    def __init__(
        self,
        content: Content,
        task: ReadingTask,
        limits: ReadingLimits,
        tokenizer: TokenizerSource,
        folder: Path | None,
    ) -> None:
        self._content = content
        self._task = task
        self._limits = limits
        self._tokenizer = tokenizer
        self._folder = folder
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False

    def __call__(self) -> ChunkedDocument | None:
        """Return the document, or None where the process was killed."""
        with ExitStack() as stack:
            data = self._content.data
            file = stack.enter_context(on_disk(data, self._folder)) if isinstance(data, bytes) else data
            process = stack.enter_context(self._started(file))
            stack.callback(process.kill)
            read = document_of(self._told(process, file))
            if read is None:
                self._check_end(process.wait())
            return read

    def kill(self) -> None:
        """End the process, or see to it that there will be none."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def _started(self, file: BinaryIO) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(file.fileno(),),
            env={**_ENVIRONMENT, **{name: os.environ[name] for name in _INHERITED if name in os.environ}},
        )
        with self._lock:
            self._process = process
            if self._killed:
                process.kill()
        return process

    def _told(self, process: subprocess.Popen[bytes], file: BinaryIO) -> Iterable[bytes]:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the process was started without pipes")
        order = ReadingOrder(file.fileno(), os.getpid(), self._task, self._limits, self._tokenizer)
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(order.encode())
        return process.stdout

    def _check_end(self, code: int) -> None:
        """Raise why there is no result; a signal is one of the limits, or of the system's own when memory is short."""
        if self._killed:
            return
        if code < 0:
            raise too_complex()
        raise ReadingError(f"the reading process ended with {code}")
