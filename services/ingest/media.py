"""The kinds of document that are read, and how one is told."""

from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import quote, urlsplit

from services.common.errors import InvalidArgumentError, Reason

MARKDOWN, PLAIN_TEXT, PDF = "text/markdown", "text/plain", "application/pdf"

HEAD_BYTES = 1024
"""Bytes of a document that tell a PDF."""

MediaType: TypeAlias = str

_MARKDOWN_ENDINGS = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_KNOWN = {
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "text/plain": PLAIN_TEXT,
}
_SAYS_NOTHING = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-www-form-urlencoded"})
"""What clients send that do not know the kind; the last is curl's."""
_BEFORE_THE_MARK = b"\xef\xbb\xbf\0\t\n\f\r "
_KEPT_IN_ADDRESS = frozenset("/-._~!$&'()*+,;=@[]")


def media_type(address: str) -> MediaType:
    """Return the kind of text by the ending of an address; plain text where it tells nothing."""
    ending = PurePosixPath(urlsplit(address).path).suffix.lower()
    return MARKDOWN if ending in _MARKDOWN_ENDINGS else PLAIN_TEXT


def detected(head: bytes, content_type: str, address: str) -> MediaType:
    """Return the kind of an upload by its first bytes, its content type, or the ending of its address, in this order.

    Raises InvalidArgumentError with MEDIA_TYPE_UNSUPPORTED.
    """
    if head.lstrip(_BEFORE_THE_MARK).startswith(b"%PDF-"):
        return PDF
    said = content_type.partition(";")[0].strip().lower()
    if said in _KNOWN:
        return _KNOWN[said]
    if said not in _SAYS_NOTHING:
        raise InvalidArgumentError(
            Reason.MEDIA_TYPE_UNSUPPORTED,
            f"Documents of this content type are not read; send {PDF}, {MARKDOWN} or {PLAIN_TEXT}.",
            field="data.content_type",
        )
    return PDF if PurePosixPath(urlsplit(address).path).suffix.lower() == ".pdf" else media_type(address)


def address_of(filename: str) -> str:
    """Return the last part of a file's name as a relative address: what cannot stand in one is percent-encoded."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    return "".join(sign if sign.isalnum() or sign in _KEPT_IN_ADDRESS else quote(sign) for sign in name)
