"""Splits a piece of Markdown into the sentences that may be quoted from it.

A sentence is a span of exact characters inside one block: a paragraph, a list item, a table row, a line of a block
quote. Its span holds no marker of a list, quote or table edge, so that collapsing its white space gives words that a
reader finds in the document in just that order. Inline markup (emphasis, links, code) stays as it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from services.answer.markdown_blocks import Block, BlockKind, blocks

MAX_CHARS = 8_000
"""Characters of a passage that are looked at; a passage of an embedding model's length is far below."""
MAX_SENTENCE_CHARS = 1_000
"""A longer run without a sentence end is cut at white space."""

_END = re.compile(r"[.!?\u2026]{1,4}[\"'\u201d\u2019)\]*_`~]{0,4}(?=\s)|[\u3002\uff01\uff1f]{1,4}")
_CODE_SPAN = re.compile(r"(`{1,3})[^`]+\1")
_ORDINAL = re.compile(r"(?<![^\s(])\d{1,2}$")
_LAST_WORD = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*$")
_ABBREVIATED = """
dr mr mrs ms prof st vs cf al fig figs sec ch vol dept resp incl excl ext nos nr ca art para approx est
jan feb apr aug sept oct nov dec inc ltd corp bros jr sr
"""
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
_BEFORE_NUMBER = frozenset(["no", "p", "pp", "ed", "co", "op"])
"""Ordinary words too: abbreviations only where a number follows."""


class SentenceKind(Enum):
    """What a sentence was in its document."""

    PROSE = auto()
    ROW = auto()
    """A row of a table; one sentence."""
    CODE = auto()
    """A line of code; one sentence."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A span of a passage, in code points, with the text that leads up to it."""

    start: int
    end: int
    text: str
    """The span with every run of white space as one space."""
    kind: SentenceKind
    context: str
    """The sentence or heading before it, the header of its table; empty where there is none."""


def split(passage: str) -> tuple[Sentence, ...]:
    """Return the sentences of the passage in reading order; headings and rules are none."""
    found: list[Sentence] = []
    context = ""
    for block in blocks(passage[:MAX_CHARS]):
        if block.kind in (BlockKind.HEADING, BlockKind.TABLE_HEADER):
            context = _text(passage, block.start, block.end)
            continue
        for start, end in _spans(passage, block):
            text = _text(passage, start, end)
            found.append(Sentence(start, end, text, _KINDS[block.kind], context))
            if block.kind is BlockKind.PROSE:
                context = text
    return tuple(found)


_KINDS = {BlockKind.PROSE: SentenceKind.PROSE, BlockKind.TABLE_ROW: SentenceKind.ROW, BlockKind.CODE: SentenceKind.CODE}


def _text(passage: str, start: int, end: int) -> str:
    return " ".join(passage[start:end].split())


def _spans(passage: str, block: Block) -> Iterator[tuple[int, int]]:
    pieces = _sentence_spans(passage, block) if block.kind is BlockKind.PROSE else ((block.start, block.end),)
    for start, end in pieces:
        for cut in _cuts(passage, start, end):
            trimmed = _trim(passage, *cut)
            if any(char.isalnum() for char in passage[slice(*trimmed)]):
                yield trimmed


def _sentence_spans(passage: str, block: Block) -> Iterator[tuple[int, int]]:
    protected = [span.span() for span in _CODE_SPAN.finditer(passage, block.start, block.end)]
    start = block.start
    for end in _END.finditer(passage, block.start, block.end):
        if any(left < end.start() < right - 1 for left, right in protected):
            continue
        if _ends_sentence(passage, start, end, block.end):
            yield start, end.end()
            start = end.end()
    yield start, block.end


def _ends_sentence(passage: str, start: int, end: re.Match[str], limit: int) -> bool:
    following = passage[end.end() : min(limit, end.end() + 40)].lstrip().lstrip("\"'\u201c\u2018(*_`[~")
    if following[:1].islower():
        return False
    if not end[0].startswith(".") or end[0].startswith(".."):
        return True
    if following[:1].isalpha() and _ORDINAL.search(passage, max(start, end.start() - 4), end.start()):
        # "31. March" in many languages: cut there, a quote says something else; joined, it only says more.
        return False
    word = _LAST_WORD.search(passage, max(start, end.start() - 20), end.start())
    return word is None or not _is_abbreviation(word[0], following)


def _is_abbreviation(word: str, following: str) -> bool:
    lower = word.lower()
    if lower in _BEFORE_NUMBER:
        return following[:1].isdigit()
    return lower in _ABBREVIATIONS or (len(word) == 1 and word != "I") or re.fullmatch(r"(?:\w\.)+\w", word) is not None


def _cuts(passage: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_SENTENCE_CHARS:
        head = passage[start : start + MAX_SENTENCE_CHARS]
        space = max(head.rfind(" "), head.rfind("\n"))
        if space <= 0:
            return  # a run without white space that long is no sentence
        yield start, start + space
        start += space + 1
    yield start, end


def _trim(passage: str, start: int, end: int) -> tuple[int, int]:
    text = passage[start:end]
    return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
