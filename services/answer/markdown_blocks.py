"""Finds the blocks of a piece of Markdown, line by line, by the exact characters that they cover.

A passage may begin and end anywhere in its document, so this looks at lines and never fails; a full parser would need
the whole text and gives lines, not characters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})([^\n]*)")
_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")
_LIST = re.compile(r"[ \t]*(?:[-*+:]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
"""A definition begins with a colon, as an item does with its bullet."""
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]+|$)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r"[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\]^\n][^\]\n]{0,200}\]:[ \t]*\S+(?:[ \t]+[\"'(][^\n]*)?$")


class BlockKind(Enum):
    """What a block is."""

    PROSE = auto()
    HEADING = auto()
    TABLE_HEADER = auto()
    TABLE_ROW = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Block:
    """Characters `start` to `end` of the text; markers at the edges of its lines are outside or start a new block."""

    kind: BlockKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str
    """Without its line end."""


def blocks(text: str) -> list[Block]:
    """Return the blocks in reading order; comments, rules, link definitions and table edges belong to none."""
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self._found: list[Block] = []
        self._open = False
        """Whether the next plain line goes on with the last block."""
        self._fence = ""
        self._comment = False

    def read(self, text: str) -> list[Block]:
        for line in _lines(text):
            if not (self._inside_fence(line) or self._inside_comment(line)):
                self._take(line)
        return self._found

    def _inside_fence(self, line: _Line) -> bool:
        mark = _FENCE.match(line.text)
        if not self._fence:
            if mark is None or (mark[1][0] == "`" and "`" in mark[2]):
                return False
            self._fence, self._open = mark[1], False
            return True
        if mark is not None and mark[1].startswith(self._fence) and not mark[2].strip():
            self._fence = ""
        elif line.text.strip():
            self._add(BlockKind.CODE, line.start, line.start + len(line.text))
        return True

    def _inside_comment(self, line: _Line) -> bool:
        if self._comment:
            self._comment = "-->" not in line.text
            return True
        if line.text.lstrip().startswith("<!--"):
            self._comment, self._open = "-->" not in line.text, False
            return True
        return False

    def _take(self, line: _Line) -> None:
        start, marked = _after_markers(line)
        rest = line.text[start - line.start :]
        if marked:
            self._open = False
        if not rest.strip() or _RULE.match(rest) or _UNDERLINE.match(rest) or _DEFINITION.match(rest):
            self._break(rest)
        elif heading := _HEADING.match(rest):
            self._add(BlockKind.HEADING, start + heading.end(), line.start + len(line.text))
        elif _is_row(rest):
            self._row(start, rest)
        else:
            self._prose(start, line)

    def _break(self, rest: str) -> None:
        """End the block; a line under a paragraph makes a heading of it."""
        if self._open and rest.strip() and _UNDERLINE.match(rest):
            last = self._found[-1]
            self._found[-1] = Block(BlockKind.HEADING, last.start, last.end)
        self._open = False

    def _row(self, start: int, rest: str) -> None:
        self._open = False
        if not set(rest) - set("|-: \t"):
            if self._found and self._found[-1].kind is BlockKind.TABLE_ROW:
                last = self._found[-1]
                self._found[-1] = Block(BlockKind.TABLE_HEADER, last.start, last.end)
            return
        left = len(rest) - len(rest.lstrip(" \t|"))
        right = len(rest.rstrip(" \t|"))
        if left < right:
            self._add(BlockKind.TABLE_ROW, start + left, start + right)

    def _prose(self, start: int, line: _Line) -> None:
        end = line.start + len(line.text)
        if self._open:
            self._found[-1] = Block(BlockKind.PROSE, self._found[-1].start, end)
        else:
            self._add(BlockKind.PROSE, start, end)
        self._open = True

    def _add(self, kind: BlockKind, start: int, end: int) -> None:
        self._found.append(Block(kind, start, end))
        self._open = False


def _lines(text: str) -> Iterator[_Line]:
    for line in _LINE.finditer(text):
        if line[0]:
            yield _Line(line.start(), line[0].rstrip("\n"))


def _after_markers(line: _Line) -> tuple[int, bool]:
    """Return where the content of the line begins, and whether markers of quotes or lists stand before it."""
    position = 0
    while marker := _QUOTE.match(line.text, position) or (
        None if _RULE.match(line.text[position:]) else _LIST.match(line.text, position)
    ):
        position = marker.end()
    return line.start + position, position > 0


def _is_row(rest: str) -> bool:
    stripped = rest.strip()
    return stripped.startswith("|") or " | " in stripped or (not set(stripped) - set("|-: ") and "|" in stripped)
