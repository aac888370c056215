"""The address that a file is stored under."""

import re
import unicodedata
from pathlib import PurePath
from urllib.parse import quote_from_bytes

_ENCODED = re.compile(
    "["
    "\x00-\x20\x7f-\x9f"  # the service refuses white space and controls
    "\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"  # cannot be told apart or seen
    "%#?:\\\\"  # mean something else in an address
    "\ud800-\udfff"  # stands for a byte that is not UTF-8
    "]"
)


def address(path: PurePath) -> str:
    """Return the relative address of a path: NFC, `/` between parts, percent signs where an address needs them."""
    return "/".join(_part(part) for part in path.parts)


def _part(part: str) -> str:
    return _ENCODED.sub(_encoded, unicodedata.normalize("NFC", part))


def _encoded(match: re.Match[str]) -> str:
    return quote_from_bytes(match[0].encode("utf-8", "surrogateescape"), safe="")
