"""107 odd PDFs of other people, each read or refused as its manifest expects."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from evals.pdf_expected import Outcome, Row, deviation, rows
from services.common.embedding.files import packaged_minilm
from services.common.errors import DomainError
from services.ingest.media import PDF
from services.ingest.model import Content, Lane, ReadingTask
from services.ingest.pdf import PdfLimits
from services.ingest.reader import BoundedReader, read_here
from tests.fakes.ingest import Words

SHARED = Path(__file__).parents[4] / "shared" / "data" / "pdf"


def params() -> list[Any]:
    return [pytest.param(row, id=Path(row.file).stem) for row in rows(SHARED)]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reader() -> AsyncIterator[BoundedReader]:
    async with BoundedReader(Words(), packaged_minilm()) as reader:
        yield reader


@pytest.mark.skipif(not SHARED.exists(), reason="the shared PDFs are not here")
@pytest.mark.parametrize("row", params() or [None])
async def test_it_is_read_or_refused_as_expected(row: Row, reader: BoundedReader) -> None:
    """F29, F35, F85, F94: hostile files are opened in a process of their own, as the service does."""
    assert deviation(row, await outcome((SHARED / row.file).read_bytes(), row, reader)) == ""


async def outcome(data: bytes, row: Row, reader: BoundedReader) -> Outcome:
    task = ReadingTask(PDF, "a.pdf", None, Lane("default", "", 200, 30))
    content = Content(bytes(32), len(data), data)
    try:
        if row.is_dangerous:
            read = await reader.read(content, task)
        else:
            read = read_here(content, task, Words(), PdfLimits())
    except DomainError as error:
        return Outcome(reason=error.reason)
    return Outcome("".join(page.text for page in read.pages))
