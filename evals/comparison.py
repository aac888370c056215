"""Compares an answer with gold answers, after the normalisation of SQuAD's evaluation, widened to other languages.

SQuAD (Rajpurkar et al. 2016) lower-cases, drops punctuation and English articles and folds white space; MLQA (Lewis et
al. 2020) drops the articles of each language and takes Chinese by the character. Both are followed here, with NFKC
first, so that full-width digits equal plain ones.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

UNSPACED = frozenset({"zh", "ja"})
"""Languages that put no spaces between words: taken by the character."""

_ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "ar": r"(?<!\w)ال",
}
_PUNCTUATION = frozenset(string.punctuation)


def tokens(text: str, lang: str) -> list[str]:
    """Return the normalised words of `text`; in languages without spaces its characters."""
    plain = "".join(" " if _is_punctuation(char) else char for char in unicodedata.normalize("NFKC", text).lower())
    article = _ARTICLES.get(lang)
    words = (re.sub(article, " ", plain) if article else plain).split()
    return list("".join(words)) if lang in UNSPACED else words


def contains(answer: str, golds: Iterable[str], lang: str) -> bool:
    """Tell whether a gold answer stands in `answer` as a run of whole tokens."""
    said = tokens(answer, lang)
    return any(_is_run(tokens(gold, lang), said) for gold in golds)


def overlap_f1(answer: str, golds: Iterable[str], lang: str) -> float:
    """Return SQuAD's token F1 with the closest gold answer, 0 to 1."""
    said = tokens(answer, lang)
    return max((_f1(said, tokens(gold, lang)) for gold in golds), default=0.0)


def length(text: str, lang: str) -> int:
    """Return how many words a reader reads; in languages without spaces how many characters."""
    return len("".join(text.split())) if lang in UNSPACED else len(text.split())


def _is_punctuation(char: str) -> bool:
    return char in _PUNCTUATION or unicodedata.category(char).startswith("P")


def _is_run(wanted: Sequence[str], words: Sequence[str]) -> bool:
    size = len(wanted)
    return size > 0 and any(words[at : at + size] == wanted for at in range(len(words) - size + 1))


def _f1(said: Sequence[str], gold: Sequence[str]) -> float:
    shared = sum((Counter(said) & Counter(gold)).values())
    return 2 * shared / (len(said) + len(gold)) if shared else 0.0
