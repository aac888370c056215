"""The service's own check: does a sentence stand in what it cites?"""

import re
from collections.abc import Iterable, Iterator

from services.answer.citations import resolve
from services.answer.model import CheckedSentence, DraftSentence, Sources, SupportSpan, Verdict

MAX_OCCURRENCES = 50
"""Occurrences of a sentence in a passage that are looked at."""

_WORD = re.compile(r"\S+")


def verify(sentences: Iterable[DraftSentence], sources: Sources) -> tuple[CheckedSentence, ...]:
    """Give every sentence its verdict; QUOTED ones cite only the passages that they were found in."""
    return tuple(_verify(sentence, sources) for sentence in sentences)


def released(sentences: Iterable[CheckedSentence]) -> tuple[CheckedSentence, ...]:
    """Return the sentences that may be shown."""
    return tuple(sentence for sentence in sentences if sentence.verdict is Verdict.QUOTED)


def collapse(text: str) -> str:
    """Return the text with every run of white space as one space, and none at its ends."""
    return " ".join(text.split())


def _verify(sentence: DraftSentence, sources: Sources) -> CheckedSentence:
    found = [
        SupportSpan(n, *span)
        for n in resolve(sentence.citations, sources)
        if (span := find_verbatim(sentence.text, sources[n].content)) is not None
    ]
    verdict = Verdict.QUOTED if found else Verdict.UNSUPPORTED
    return CheckedSentence(collapse(sentence.text), verdict, tuple(span.n for span in found), tuple(found))


def find_verbatim(sentence: str, passage: str) -> tuple[int, int] | None:
    """Return the code points of `passage` where the sentence stands word for word, white space aside.

    A piece of a longer word or number ("5 days" in "2.5 days") is no find.
    """
    wanted, text = collapse(sentence), collapse(passage)
    if not wanted:
        return None
    for start in _occurrences(wanted, text):
        if _is_whole(text, start, start + len(wanted)):
            return _uncollapsed(passage, start, start + len(wanted))
    return None


def _occurrences(wanted: str, text: str) -> Iterator[int]:
    start = text.find(wanted)
    for _ in range(MAX_OCCURRENCES):
        if start < 0:
            return
        yield start
        start = text.find(wanted, start + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    first, last = text[start], text[end - 1]
    if (first.isalnum() and before[-1:].isalnum()) or (last.isalnum() and after[:1].isalnum()):
        return False
    if first.isdigit() and before[-1:] in {".", ",", "-", "\u2212"}:
        return False
    return not (last.isdigit() and after[:1] in {".", ","} and after[1:].isdigit())


def _uncollapsed(passage: str, start: int, end: int) -> tuple[int, int]:
    """Translate offsets of the collapsed passage, which begin and end inside a word, into those of the passage."""
    offset, begin = 0, 0
    for word in _WORD.finditer(passage):
        length = len(word[0])
        if offset <= start < offset + length:
            begin = word.start() + start - offset
        if offset < end <= offset + length:
            return begin, word.start() + end - offset
        offset += length + 1
    raise AssertionError("the offsets are not of this passage")
