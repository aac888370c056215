"""What a text may hold, how it is stored, and the derived form that is searched."""

import re
import unicodedata

_MALFORMED = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ud800-\udfff]")
_SOFT_HYPHEN = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")
_LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010]\n[ \t]*(?=([^\W\d_]))")
_LINE_HYPHENS = ("-\n", "\u2010\n")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})
"""Categories of Unicode; letters that are younger than this Python's tables (Cn) can be seen."""
_EMPTY_SIGNS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Fillers of Hangul and the Braille pattern without dots: letters and signs by category, and nothing to the eye."""
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Marks that turn the direction of what follows, beyond the end of a label too."""


def is_blank(text: str) -> bool:
    """Tell whether nothing of the text can be seen: it has only white space, controls, marks of format and fillers."""
    return all(sign in _EMPTY_SIGNS or unicodedata.category(sign) in _UNSEEN for sign in text)


def is_well_formed(text: str) -> bool:
    """Tell whether the text is free of NUL and of lone surrogates, which neither UTF-8 nor Postgres can hold."""
    return _MALFORMED.search(text) is None


def normalise(text: str) -> str:
    r"""Return the text as it is stored: NFC, `\n` at line ends, no byte order mark, no control beside `\n` and `\t`.

    Offsets, hashes and citations refer to this form. It is well-formed whatever came in, and stable when repeated.
    """
    return unicodedata.normalize("NFC", _DROPPED.sub("", _LINE_END.sub("\n", text)))


def label(text: str) -> str:
    """Return the text as a title or a name: one line of stored text that turns nothing beside it, empty for a blank."""
    line = " ".join(_TURNING.sub("", normalise(text)).split())
    return "" if is_blank(line) else line


def search_text(text: str) -> str:
    """Return the form that is searched and never shown: NFKC, hyphenation mended, white space collapsed.

    NFKC opens ligatures and also turns 10² into 102: do not store it in place of the text.
    """
    whole = _SOFT_HYPHEN.sub("", text) if "\u00ad" in text else text
    if any(hyphen in whole for hyphen in _LINE_HYPHENS):
        whole = _LINE_HYPHEN.sub(_mend, whole)
    return " ".join(unicodedata.normalize("NFKC", whole).split())


def _mend(hyphen: re.Match[str]) -> str:
    r"""Drop the hyphen before a lower-case letter; keep that of a compound such as `Rhine-\nMain`."""
    return "" if hyphen[1].islower() else "-"
