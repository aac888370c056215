r"""Markers of citations: `[n]` after a sentence, resolved through the fixed number map and nothing else.

A sentence may hold bracketed numbers of its own ("see [2]"). In the text of an answer they are written `\[2\]`, as
Markdown escapes them: `\[(\d+)\]` matches markers alone, a Markdown reader shows the brackets as they stand in the
document, and `sentences[].text` keeps them unescaped.
"""

import re
from collections.abc import Iterable

from services.answer.model import CheckedSentence, Sources

_OWN_BRACKETS = re.compile(r"\[([\d\s,;\u2013-]{1,40})\]")
_MARKER_GROUP = re.compile(r"[ \t]?\[(\d{1,4}(?:[ ]?,[ ]?\d{1,4}){0,20})\]")
_NUMBER = re.compile(r"\d+")


def resolve(numbers: Iterable[int], sources: Sources) -> tuple[int, ...]:
    """Return the numbers that the map knows, each once, in order; invented ones are gone (F100)."""
    return tuple(dict.fromkeys(n for n in numbers if n in sources))


def render(sentences: Iterable[CheckedSentence]) -> str:
    """Return the answer: sentences joined by a space, each followed by its markers."""
    return " ".join(f"{escape(sentence.text)} {markers(sentence.citations)}" for sentence in sentences)


def markers(numbers: Iterable[int]) -> str:
    """Return one marker per number. Example: `[1][3]`."""
    return "".join(f"[{n}]" for n in numbers)


def escape(text: str) -> str:
    """Escape the bracketed numbers of a text, so that none can be taken for a marker."""
    return _OWN_BRACKETS.sub(r"\\[\1\\]", text)


def take_markers(written: str) -> tuple[str, tuple[int, ...]]:
    """Split a written sentence into its text and the numbers that it claims, in order: `[1]`, `[1, 2]`, `[1][2]`.

    Escaped brackets are text and are unescaped.
    """
    claimed = [int(n) for group in _MARKER_GROUP.finditer(written) for n in _NUMBER.findall(group[1])]
    text = _MARKER_GROUP.sub("", written).strip()
    return re.sub(r"\\\[([\d\s,;\u2013-]{1,40})\\\]", r"[\1]", text), tuple(dict.fromkeys(claimed))
