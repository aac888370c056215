"""Chunks for a hosted model are measured by its own tokenizer, in the service and in a reading process."""

import hashlib

import pytest

from services.common.embedding.counters import (
    CL100K,
    HostedTokenizer,
    TokenizerSource,
    as_json,
    chunk_counter,
    from_json,
)
from services.common.embedding.files import packaged_minilm
from services.common.errors import FailedPreconditionError
from services.ingest.chunking import chunk
from services.ingest.media import MARKDOWN
from services.ingest.model import Chunk, Content, Lane, ReadingTask
from services.ingest.reader import SMALL_TEXT_BYTES, BoundedReader
from services.ingest.readers import read_document
from tests.unit.ingest.test_chunking import PAGES, check, lane

HOSTED = HostedTokenizer(CL100K, 8192)
OWN_FILE = HostedTokenizer(str(packaged_minilm().tokenizer), 512)


@pytest.mark.parametrize("source", [HOSTED, OWN_FILE, packaged_minilm()], ids=["cl100k", "file", "packaged"])
def test_a_tokenizer_survives_the_way_to_another_process(source: TokenizerSource) -> None:
    assert from_json(as_json(source)) == source


@pytest.mark.parametrize(("source", "most"), [(HOSTED, 8192), (OWN_FILE, 510), (packaged_minilm(), 254)])
def test_a_counter_knows_how_much_the_model_takes(source: TokenizerSource, most: int) -> None:
    assert chunk_counter(source).max_tokens == most


@pytest.mark.parametrize("repeats", [200, 2000], ids=["here", "apart"])
async def test_a_lane_may_have_larger_chunks_where_the_model_takes_more(repeats: int) -> None:
    text = " ".join(f"Sentence number {number} is about nothing in particular." for number in range(repeats))
    packaged = await _read(text, packaged_minilm())
    hosted = await _read(text, HOSTED)

    assert (len(text) > SMALL_TEXT_BYTES) == (repeats > 1000)
    assert max(part.token_count for part in packaged) <= 254
    assert 500 < max(part.token_count for part in hosted) <= 600
    counter = chunk_counter(HOSTED)
    assert [part.token_count for part in hosted] == [counter.count(part.embedding_text) for part in hosted]


@pytest.mark.skipif(not PAGES.is_dir(), reason="the real pages of ../shared are absent")
def test_real_pages_keep_the_promises_with_the_hosted_counter() -> None:
    """F95: pages in many languages, counted as OpenAI counts them; every eighth here."""
    tokens = chunk_counter(HOSTED)
    for page in sorted(PAGES.rglob("*.md"))[4::8]:
        document = read_document(page.read_text(encoding="utf-8"), "text/markdown", page.name, None)

        check(document, chunk(document, lane(200, 32), tokens, tokens.max_tokens), 200, tokens)


async def _read(text: str, source: TokenizerSource) -> list[Chunk]:
    data = text.encode()
    task = ReadingTask(MARKDOWN, "a.md", None, Lane("large", "", 600, 0))
    async with BoundedReader(chunk_counter(source), source) as reader:
        read = await reader.read(Content(hashlib.sha256(data).digest(), len(data), data), task)
    return list(read.chunks)


def test_the_file_of_a_tokenizer_that_is_not_there_is_named() -> None:
    with pytest.raises(FailedPreconditionError, match=r"tokenizer\.json"):
        chunk_counter(HostedTokenizer("/nowhere/tokenizer.json", 512))
