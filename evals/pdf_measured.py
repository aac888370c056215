"""Reads one PDF in the product's own reading process, under its limits, and tells what that took."""

import asyncio
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from evals.pdf_expected import Outcome
from services.common.embedding.counters import chunk_counter
from services.common.embedding.files import packaged_minilm
from services.common.errors import DomainError
from services.ingest.media import PDF
from services.ingest.model import Content, Lane, ReadingTask
from services.ingest.reader import BoundedReader
from services.ingest.reading_lines import ReadingError

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of a file and what it took, in seconds and MiB."""

    outcome: Outcome
    fault: str = ""
    """A fault of ours that the reading process told of; never as expected."""
    pages: int = 0
    cpu_seconds: float = 0.0
    """Processor time of the reading process, its start included."""
    wall_seconds: float = 0.0
    peak_mib: float = 0.0
    """Largest resident memory of the reading process."""


def measured_apart(file: Path) -> Measured:
    """Read the file from a process that is made for it, so that the peak of memory is that of this file."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, file).result()


def measured(file: Path) -> Measured:
    """Read the file in a reading process, the first child of this one, so that the peak is its own.

    A peak is never told to be less than what this process holds when it starts the other (Linux), about 70 MiB.
    """
    data = file.read_bytes()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    outcome, pages, fault = asyncio.run(_read(data))
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Measured(
        outcome=outcome,
        fault=fault,
        pages=pages,
        cpu_seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        wall_seconds=wall,
        peak_mib=after.ru_maxrss * _RSS_UNIT / _MEBIBYTE,
    )


async def _read(data: bytes) -> tuple[Outcome, int, str]:
    tokenizer = packaged_minilm()
    task = ReadingTask(PDF, "a.pdf", None, Lane("default", "", 200, 30))
    async with BoundedReader(chunk_counter(tokenizer), tokenizer) as reader:
        try:
            read = await reader.read(Content(bytes(32), len(data), data), task)
        except DomainError as error:
            return Outcome(reason=error.reason), 0, ""
        except ReadingError as error:
            return Outcome(), 0, " ".join(map(str, error.args))
    return Outcome("".join(page.text for page in read.pages)), len(read.pages), ""
