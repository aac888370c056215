"""Where a text may be cut: at lines, after sentences, between words, and at last between characters."""

import re
import unicodedata
from collections.abc import Callable, Iterator

# Possessive, and tried only where a run of stops begins: a page of dots is read once, not once per dot.
_SENTENCE = re.compile(
    r"""(?<![.!?\u2026\u061f\u06d4\u0964])[.!?\u2026\u061f\u06d4\u0964]++["'\u2019\u201d)\]*_`]*+\s++"""
    r"""|[\u3002\uff01\uff1f]++\s*+|\n[^\S\n]*+\n\s*+"""
)
_FIRST_GUESS = 256
"""Characters that a piece is first tried with; the next ones start from the length of the last."""
_JOINERS = frozenset("\u200c\u200d")


def lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the lines, their ends included."""
    while start < end:
        after = text.find("\n", start, end) + 1 or end
        yield start, after
        start = after


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences, white space after them included."""
    for stop in _SENTENCE.finditer(text, start, end):
        if stop.end() < end and not text[stop.end()].islower():
            yield start, stop.end()
            start = stop.end()
    if start < end:
        yield start, end


def fitting(text: str, start: int, end: int, fits: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """Cut the span into pieces that fit, between words where that works; no piece is shorter than a character.

    `fits(start, end)` tells whether a span is small enough. Every piece fits, or is a single character.
    """
    guess = _FIRST_GUESS
    while start < end:
        longest = _longest(start, end, guess, fits)
        cut = _whole(text, start, longest, end)
        if cut < longest and not fits(start, cut):
            cut = longest
        yield start, cut
        start, guess = cut, longest - start


def _longest(start: int, end: int, guess: int, fits: Callable[[int, int], bool]) -> int:
    """Return the last end that fits, at least one character on, searched from a guessed length outwards."""
    low, high, step = start + 1, end, max(1, guess // 16)
    probe = min(end, start + guess)
    if fits(start, probe):
        low = probe
        while low < high and fits(start, probe := min(high, low + step)):
            low, step = probe, step * 2
        high = min(high, low + step - 1)
    else:
        high = max(low, probe - 1)
        while low < high and not fits(start, probe := max(low, high - step)):
            high, step = max(low, probe - 1), step * 2
        low = max(low, min(high, high - step))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(start, middle) else (low, middle - 1)
    return low


def _whole(text: str, start: int, cut: int, end: int) -> int:
    """Move a cut back to the last white space in the latter half, else to where no character is torn apart."""
    if cut == end:
        return cut
    for at in range(cut, (start + cut) // 2, -1):
        if text[at - 1].isspace():
            return at
    for at in range(cut, max(start, cut - 32), -1):
        if not _continues(text, at):
            return at
    return cut


def _continues(text: str, at: int) -> bool:
    return bool(unicodedata.combining(text[at])) or text[at] in _JOINERS or text[at - 1] in _JOINERS
