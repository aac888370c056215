"""Reads a document as it was sent into its stored text, its title, its metadata and its blocks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import unquote, urlsplit

from services.common.errors import InvalidArgumentError, Reason
from services.common.text import label, normalise, search_text
from services.ingest.blocks import Block, Kind, Structure
from services.ingest.front_matter import FrontMatter, read_front_matter
from services.ingest.markdown import TooMuchStructureError, read_markdown
from services.ingest.markup import code_text, html_text, inline_text, table_text
from services.ingest.media import MARKDOWN, PLAIN_TEXT

_TOO_MUCH_STRUCTURE = "too many blocks to read as Markdown: read as plain text, without headings; split the document"
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that was read; all offsets are code points of `text`."""

    title: str
    text: str
    """Stored text: what is shown, cited and hashed."""
    metadata: Mapping[str, str]
    """Scalars of the front matter."""
    warnings: tuple[str, ...]
    structure: Structure

    def search(self, block: Block, start: int, end: int) -> str:
        """Return the search text of a part of the block: without marks and markup, never shown."""
        raw = self.text[max(start, block.body[0]) : min(end, block.body[1])]
        references = self.structure.references
        if block.kind in {Kind.HEADING, Kind.PROSE}:
            raw = inline_text(raw.strip(), references)
        elif block.kind is Kind.TABLE:
            raw = table_text(raw, references)
        elif block.kind is Kind.HTML:
            raw = html_text(raw)
        elif block.kind is Kind.CODE:
            raw = code_text(raw)
        return search_text(raw)


def read_document(content: str, media_type: str, source_url: str, title: str | None) -> ReadDocument:
    """Read Markdown or plain text.

    The title is the given one, else the front matter's, the first top heading, or the last part of the address.
    Raises InvalidArgumentError with FIELD_INVALID on another media type.
    """
    if media_type not in {MARKDOWN, PLAIN_TEXT}:
        raise InvalidArgumentError(
            Reason.FIELD_INVALID, f"media_type must be {MARKDOWN} or {PLAIN_TEXT}.", field="media_type"
        )
    text = normalise(content)
    front, structure, warnings = _structure(text, media_type)
    return ReadDocument(
        title=_title(title or "", front.values.get("title", ""), _first_heading(structure), _file_name(source_url)),
        text=text,
        metadata=front.values,
        warnings=(*front.warnings, *warnings),
        structure=structure,
    )


def read_page(text: str, source_url: str, title: str | None) -> ReadDocument:
    """Read the stored text of one page: paragraphs without markup, under the given title or the last of the address."""
    return ReadDocument(_title(title or "", _file_name(source_url)), text, {}, (), _plain(text, 0))


def _title(*found: str) -> str:
    """Return the first name that can be seen, as one line."""
    return next(filter(None, map(label, found)), "")[:_LONGEST_TITLE]


def _structure(text: str, media_type: str) -> tuple[FrontMatter, Structure, tuple[str, ...]]:
    if media_type == MARKDOWN:
        front = read_front_matter(text)
        try:
            return front, read_markdown(text, front.end), ()
        except TooMuchStructureError:
            return front, _plain(text, front.end), (_TOO_MUCH_STRUCTURE,)
    return FrontMatter(), _plain(text, 0), ()


def _plain(text: str, start: int) -> Structure:
    return Structure(tuple(_paragraphs(text, start)), {})


def _paragraphs(text: str, at: int) -> Iterator[Block]:
    """Yield what blank lines separate, from offset `at` on."""
    for blank, lines in groupby(text[at:].splitlines(keepends=True), key=lambda line: not line.strip()):
        start, at = at, at + sum(map(len, lines))
        if not blank:
            yield Block(Kind.PLAIN, start, at, path=(), body=(start, at))


def _first_heading(structure: Structure) -> str:
    """Return the first heading of the first level, which is alone on its path."""
    return next((block.path[0] for block in structure.blocks if block.level == 1 and block.path), "")


def _file_name(source_url: str) -> str:
    """Return the last part of the path; the whole address where there is no path."""
    path = urlsplit(source_url).path.rstrip("/")
    return unquote(path.rpartition("/")[2]) or source_url
