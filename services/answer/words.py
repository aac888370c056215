"""Words of English as the extractive generator compares them."""

import re

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_VOWEL = re.compile("[aeiouy]")

_STOP_WORDS = """
et a an and any are as at be been being but by can could did do does doing for from had has have having he her
hers him his how i if in into is it its just may me might must my no nor not of off on onto or our ours out over
own per shall she should so some such than that the their theirs them then there these they this those through
to too under until up upon us very was we were what when where which while who whom whose why will with within
without would you your yours am also about again all because before after between both each during here more
most other same only please tell get gets got need needs want happen happens many much long often old
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

_IRREGULAR = """
began begin begun begin bought buy brought bring built build caught catch children child chose choose chosen choose
feet foot fell fall fallen fall felt feel found find fought fight gave give given give grew grow grown grow held hold
kept keep knew know known know led lead lost lose made make men man met meet paid pay people person ran run
rose rise risen rise said say sent send sold sell spent spend spoke speak spoken speak stole steal stolen steal
taught teach taken take thought think threw throw thrown throw told tell took take won win women woman wore wear
written write wrote write
"""
_FORMS = _IRREGULAR.split()
PLAIN_FORMS = dict(zip(_FORMS[::2], _FORMS[1::2], strict=True))
"""Forms of common words that no rule leads back to the plain one."""


def tokens(text: str) -> list[str]:
    """Return the words and numbers of the text in lower case, in order."""
    return _TOKEN.findall(_POSSESSIVE.sub("", text).lower())


class Stemmer:
    """Finds stems and remembers them for its own life, which is meant to be one question long."""

    def __init__(self) -> None:
        """Start with nothing remembered."""
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> list[str]:
        """Return the stems of the words that are no stop words, in order."""
        return [self._stem(token) for token in tokens(text) if token not in STOP_WORDS]

    def _stem(self, word: str) -> str:
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = stem(word)
        return known


def stem(word: str) -> str:
    """Return a short form that the plural, -ing, -ed and -ment share with the plain word."""
    word = PLAIN_FORMS.get(word, word)
    if len(word) < 4 or not word.isalpha():
        return word
    return _ending(_verbal(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _verbal(word: str) -> str:
    for suffix in ("ment", "ing", "ed"):
        base = word.removesuffix(suffix)
        if base != word and len(base) >= 3 and _VOWEL.search(base):
            return base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
    return word


def _ending(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word
