"""The program of a reading process: one document in, its text and chunks out, and an end at the first limit.

It is started afresh for each document (`python -m services.ingest.reading_process`), with the order as JSON on its
standard input and the document as an open file that it inherits.
"""

import contextlib
import ctypes
import json
import logging
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Self

from services.common.embedding.counters import TokenizerSource, as_json, chunk_counter, from_json
from services.common.errors import DomainError, Reason, ResourceExhaustedError
from services.ingest.model import Lane, ReadingTask
from services.ingest.pdf import PdfLimits
from services.ingest.reading import read_and_chunk
from services.ingest.reading_lines import Line, document_lines, encode, error_line

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Bounds of one reading process."""

    seconds: int = 60
    """Processor time, so that a busy machine does not make a long document a hostile one."""
    wall_seconds: float = 120.0
    """Time until nobody waits for the result any more."""
    memory_bytes: int = 1536 * 1024 * 1024
    """Address space; not enforced where the system has no such limit."""
    pdf: PdfLimits = field(default_factory=PdfLimits)


LIMITS = ReadingLimits()
"""Bounds that hold where nobody chose others."""


@dataclass(frozen=True, slots=True)
class ReadingOrder:
    """What the process is told."""

    file: int
    """Descriptor of the open document."""
    parent: int
    """Process that waits for the result."""
    task: ReadingTask
    limits: ReadingLimits
    tokenizer: TokenizerSource

    def encode(self) -> bytes:
        """Return the order as JSON."""
        return json.dumps({**asdict(self), "tokenizer": as_json(self.tokenizer)}, default=str).encode()

    @classmethod
    def decode(cls, order: bytes) -> Self:
        """Return the order of its JSON."""
        fields: dict[str, Any] = json.loads(order)
        task, limits = fields["task"], fields["limits"]
        return cls(
            file=fields["file"],
            parent=fields["parent"],
            task=ReadingTask(**{**task, "lane": Lane(**task["lane"])}),
            limits=ReadingLimits(**{**limits, "pdf": PdfLimits(**limits["pdf"])}),
            tokenizer=from_json(fields["tokenizer"]),
        )


def too_complex() -> ResourceExhaustedError:
    """Make the error for a document at which the limits ended the reading."""
    return ResourceExhaustedError(
        Reason.DOCUMENT_TOO_COMPLEX,
        "Reading the document takes more time or memory than is allowed; split it, or print it to a new PDF.",
    )


def main() -> None:
    """Read one document and write what became of it."""
    order = ReadingOrder.decode(sys.stdin.buffer.read())
    _confine(order)
    logging.disable()  # libraries quote the document
    try:
        with os.fdopen(order.file, "rb") as file, contextlib.suppress(BrokenPipeError):
            file.seek(0)
            for line in _lines(file, order):
                sys.stdout.buffer.write(encode(line))
            sys.stdout.buffer.flush()
    except MemoryError:
        os.abort()


def _confine(order: ReadingOrder) -> None:
    """Take the limits on, and end with the parent where the kernel sees to it."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != order.parent:
        sys.exit("the parent has ended")
    _limit(resource.RLIMIT_CPU, order.limits.seconds)
    _limit(resource.RLIMIT_AS, order.limits.memory_bytes)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(what: int, most: int) -> None:
    with contextlib.suppress(ValueError):  # this system has no such limit, or a lower one already
        resource.setrlimit(what, (most, most))


def _lines(file: BinaryIO, order: ReadingOrder) -> Iterator[Line]:
    try:
        yield from document_lines(read_and_chunk(file, order.task, chunk_counter(order.tokenizer), order.limits.pdf))
    except DomainError as error:
        yield error_line(error)
    except (MemoryError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001  # the parent logs it: here nobody would see it
        yield ["fault", type(error).__qualname__, *(f"{Path(f.filename).name}:{f.lineno}" for f in _frames(error))]


def _frames(error: Exception) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))[-5:]


if __name__ == "__main__":
    main()
