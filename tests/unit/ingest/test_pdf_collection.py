"""107 odd PDFs of other people, each read or refused as its manifest expects."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from services.common.embedding.files import packaged_minilm
from services.common.errors import DomainError, Reason
from services.ingest.media import PDF
from services.ingest.model import Content, Lane, ReadingTask
from services.ingest.pdf import PdfLimits
from services.ingest.reader import BoundedReader, read_here
from tests.fakes.ingest import Words

SHARED = Path(__file__).parents[4] / "shared" / "data" / "pdf"
DEVIATIONS = {
    "sample-files__imagemagick-images.pdf": "its pictures have labels, which are text",
    "pypdf__r6-user-password.pdf": "its owner's password is empty and opens it",
}
"""Files that are read where the manifest expects a refusal; docs/api.md says the same."""
DANGEROUS = {"text_or_error", "limit_or_text", "error"}
NAMED = {"no_text": Reason.DOCUMENT_WITHOUT_TEXT, "password": Reason.DOCUMENT_ENCRYPTED}


def rows() -> list[Any]:
    manifest = SHARED / "manifest.jsonl"
    found = [json.loads(line) for line in manifest.read_text().split("\n") if line] if manifest.exists() else []
    return [pytest.param(row, id=Path(row["file"]).stem) for row in found]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reader() -> AsyncIterator[BoundedReader]:
    async with BoundedReader(Words(), packaged_minilm()) as reader:
        yield reader


@pytest.mark.skipif(not SHARED.exists(), reason="the shared PDFs are not here")
@pytest.mark.parametrize("row", rows() or [None])
async def test_it_is_read_or_refused_as_expected(row: dict[str, Any], reader: BoundedReader) -> None:
    """F29, F35, F85, F94: hostile files are opened in a process of their own, as the service does."""
    outcome = "text" if Path(row["file"]).name in DEVIATIONS else row["expect"]["outcome"]
    text, reason = await read_or_refused((SHARED / row["file"]).read_bytes(), outcome, reader)

    if outcome in NAMED:
        assert reason is NAMED[outcome]
    if outcome == "error":
        assert reason is not None
    if outcome == "text":
        assert text is not None, reason
        assert row["expect"].get("min_chars", 0) <= len("".join(text.split())) <= row["expect"]["max_chars"]
        assert all(word in text for word in row["expect"].get("contains_words", ()))


async def read_or_refused(data: bytes, outcome: str, reader: BoundedReader) -> tuple[str | None, Reason | None]:
    task = ReadingTask(PDF, "a.pdf", None, Lane("default", "", 200, 30))
    content = Content(bytes(32), len(data), data)
    try:
        if outcome in DANGEROUS:
            read = await reader.read(content, task)
        else:
            read = read_here(content, task, Words(), PdfLimits())
    except DomainError as error:
        return None, error.reason
    return "".join(page.text for page in read.pages), None
