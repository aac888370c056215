"""Reads the block structure of Markdown (CommonMark with tables) as spans of the stored text."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from services.ingest.blocks import Block, Kind, Structure
from services.ingest.markup import inline_text, table_text

_PARSER = MarkdownIt("commonmark").enable("table")
_KINDS = {
    "paragraph_open": Kind.PROSE,
    "heading_open": Kind.PROSE,
    "fence": Kind.CODE,
    "code_block": Kind.CODE,
    "html_block": Kind.HTML,
    "table_open": Kind.TABLE,
}
_Leaf: TypeAlias = tuple[int, int, Token | None, str]
"""First line, line after the last, token (None where nothing is to be read) and the content of an opening token."""

_MARKERS_ONLY = re.compile(r"(?:\s|[>*+-]|\d{1,9}[.)])*")
_MOST_TOKENS = 500_000
"""Tokens that the parser may make of one document, about half a kilobyte each; 8 MB of prose make 250,000."""
_LONGEST_HEADING = 300
"""Characters of a heading, as it is written; a longer one is read as prose."""


class TooMuchStructureError(Exception):
    """The document has so many blocks that reading them would take too much memory."""


class _Tokens(list[Token]):
    """The parser's output, bounded while it grows."""

    def append(self, token: Token) -> None:
        if len(self) >= _MOST_TOKENS:
            raise TooMuchStructureError
        super().append(token)


def read_markdown(text: str, start: int) -> Structure:
    """Return the blocks of `text` from offset `start` on, which begins or ends a line.

    Lines that the parser gives to no block (it stops at 20 levels) become plain text, unless they hold nothing to
    read: blank lines, rules, markers, link definitions. Raises TooMuchStructureError on some hundred thousand blocks.
    """
    environment: dict[str, Any] = {}
    tokens = _Tokens()
    _PARSER.block.parse(text[start:], _PARSER, environment, tokens)
    references = environment.get("references", {})
    definitions = [*references.values(), *environment.get("duplicate_refs", ())]
    silent = [(definition["map"][0], definition["map"][1]) for definition in definitions]
    silent += [(token.map[0], token.map[1]) for token in tokens if token.type == "hr" and token.map]
    reader = _Reader(text, start, references)
    return Structure(tuple(reader.blocks(tokens, silent)), references)


class _Reader:
    def __init__(self, text: str, start: int, references: Mapping[str, Any]) -> None:
        self._text = text
        self._references = references
        self._starts = [start, *(match.end() for match in re.compile("\n").finditer(text, start)), len(text) + 1]
        self._path: list[tuple[int, str]] = []

    def blocks(self, tokens: list[Token], silent: list[tuple[int, int]]) -> Iterator[Block]:
        """Yield the blocks in the order of their lines, no line twice."""
        leaves = [*_leaves(tokens), *((first, after, None, "") for first, after in silent)]
        line = 0
        for first, after, token, content in sorted(leaves, key=lambda leaf: leaf[0]):
            yield from self._unclaimed(line, first)
            first, line = max(first, line), max(after, line)  # lines of a leaf before are its own
            if token is not None and first < line:
                yield self._block(first, line, token, content)
        yield from self._unclaimed(line, len(self._starts) - 1)

    def _block(self, first: int, after: int, token: Token, content: str) -> Block:
        if token.type == "heading_open" and token.level == 0 and len(content) <= _LONGEST_HEADING:
            level, name = int(token.tag[1]), " ".join(inline_text(content, self._references).split())
            self._path = [outer for outer in self._path if outer[0] < level] + [(level, name)]
            start, end = self._span(first, after)
            text = max(self._text.find(content, start, end), start)
            return self._made(Kind.HEADING, (start, end), (text, text + len(content)), level=level)
        if token.type == "fence":
            body = self._span(first + 1, min(after, first + 1 + token.content.count("\n")))
            return self._made(Kind.CODE, self._span(first, after), body, token.info)
        if token.type == "table_open":
            header = table_text(self._text[slice(*self._span(first, first + 1))], self._references)
            return self._made(Kind.TABLE, self._span(first, after), lead=header)
        return self._made(_KINDS[token.type], self._span(first, after))

    def _unclaimed(self, first: int, after: int) -> Iterator[Block]:
        span = self._span(first, max(first, after))
        if not _MARKERS_ONLY.fullmatch(self._text, *span):
            yield self._made(Kind.PLAIN, span)

    def _made(
        self, kind: Kind, span: tuple[int, int], body: tuple[int, int] | None = None, lead: str = "", level: int = 0
    ) -> Block:
        path = tuple(name for _, name in self._path if name)
        return Block(kind, *span, path=path, body=body or span, lead=lead, level=level)

    def _span(self, first: int, after: int) -> tuple[int, int]:
        """Return the span of lines `first` to `after`, exclusive, without the last line end."""
        last = len(self._starts) - 1
        start = min(self._starts[min(first, last)], len(self._text))
        return start, max(start, self._starts[min(after, last)] - 1)


def _leaves(tokens: list[Token]) -> Iterator[_Leaf]:
    """Yield the tokens that stand for text; the one after an opening token holds its content."""
    for token, following in pairwise([*tokens, Token("", "", 0)]):
        if token.type in _KINDS and token.map:
            yield token.map[0], token.map[1], token, following.content
