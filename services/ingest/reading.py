"""Reads and cuts a document of any kind; may take long on a hostile one, so large ones go to a process of their own."""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.chunking import chunk
from services.ingest.media import PDF
from services.ingest.model import Chunk, ChunkedDocument, PageText, ReadingTask
from services.ingest.pdf import PdfLimits, PdfText, ranges, read_pdf
from services.ingest.ports import TokenCounter
from services.ingest.readers import read_document, read_page

_SAMPLED_CHUNKS = 8
_MOST_UNKNOWN = 0.3
"""Share of the signs in words that the model does not know; technical English has below a hundredth."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_and_chunk(file: BinaryIO, task: ReadingTask, tokens: TokenCounter, limits: PdfLimits) -> ChunkedDocument:
    """Return the document with its chunks, none where it holds nothing to search.

    Raises InvalidArgumentError: TEXT_MALFORMED for text that is not UTF-8, and what `read_pdf` raises.
    """
    if task.media_type == PDF:
        return _chunked_pdf(read_pdf(file, limits), task, tokens)
    read = read_document(decoded(file.read()), task.media_type, task.address, task.title)
    chunks = chunk(read, task.lane, tokens, tokens.max_tokens)
    return ChunkedDocument(
        title=read.title,
        metadata=read.metadata,
        warnings=[*read.warnings, *_unknown(chunks, tokens)],
        pages=(PageText(None, read.text),),
        chunks=chunks,
    )


def decoded(content: bytes) -> str:
    """Return text sent as bytes: UTF-8, or UTF-16 with its mark; raise InvalidArgumentError with TEXT_MALFORMED."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise InvalidArgumentError(
            Reason.TEXT_MALFORMED, "The document is neither a PDF nor text in UTF-8; convert it and send it again."
        ) from None


def _chunked_pdf(pdf: PdfText, task: ReadingTask, tokens: TokenCounter) -> ChunkedDocument:
    title = task.title or pdf.title
    missing = pdf.without_text
    warnings = [f"no text on pages {ranges(missing)}: scanned or blank, they cannot be searched"] if missing else []
    chunks: list[Chunk] = []
    for page in pdf.pages:
        chunks += _chunks_of(page, len(chunks), title, task, tokens)
    named = read_page("", task.address, title)
    return ChunkedDocument(named.title, {}, [*warnings, *_unknown(chunks, tokens)], pdf.pages, chunks)


def _unknown(chunks: Sequence[Chunk], tokens: TokenCounter) -> Iterator[str]:
    """Yield a warning where the model cannot read a document, judged by a sample spread over all of it."""
    sample = " ".join(part.embedding_text for part in chunks[:: max(1, len(chunks) // _SAMPLED_CHUNKS)])
    share = tokens.unknown_share(sample)
    if share >= _MOST_UNKNOWN:
        yield f"the embedding model cannot read {share:.0%} of the text, its script or language: it is hardly found"


def _chunks_of(page: PageText, first: int, title: str, task: ReadingTask, tokens: TokenCounter) -> Iterator[Chunk]:
    """Yield the chunks of one page: none goes on to the next, so that offsets and page number are those of the page."""
    read = read_page(page.text, task.address, title)
    for ordinal, cut in enumerate(chunk(read, task.lane, tokens, tokens.max_tokens), first):
        yield replace(cut, ordinal=ordinal, page=page.page)
