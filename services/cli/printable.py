"""What of a document's text may reach a terminal: no control character, no escape sequence, no reversed line."""

import re
import unicodedata

_JOINERS = "\u00ad\u200c\u200d"
"""Invisible characters that scripts and emoji need, and that do a terminal no harm."""
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNPRINTABLE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return the text with tabs opened and everything replaced that could steer a terminal; line ends stay."""
    return "".join(_shown(character) for character in text)


def one_line(text: str) -> str:
    """Return the printable text on one line, white space collapsed."""
    return " ".join(printable(text).split())


def escaped_json(document: str) -> str:
    r"""Return a JSON document in which what could steer a terminal stands as `\u` and four digits.

    JSON itself escapes the first 32 characters only; here come those that terminals know beside them, and lone
    surrogates, which cannot be written at all.
    """
    return _UNPRINTABLE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def _shown(character: str) -> str:
    if character == "\n" or character in _JOINERS:
        return character
    if character == "\t":
        return "    "
    steers = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return _REPLACEMENT if steers else character
