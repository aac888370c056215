"""What of a file is sent, its hash, and what need not be sent to be refused."""

import codecs
import hashlib
from collections.abc import Callable

from services.cli.api import ApiError
from services.cli.collect import Found

_MIB = 1024 * 1024
INLINE_BYTES = _MIB
"""Larger texts are streamed: the service then reports progress and resumes what broke."""
MOST_BYTES = {"application/pdf": 100 * _MIB}
MOST_TEXT_BYTES = 20 * _MIB
_BLOCK_BYTES = 1024 * 1024
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def is_inline(file: Found) -> bool:
    """Tell whether a file is sent as text within one message."""
    return file.media_type != "application/pdf" and file.size <= INLINE_BYTES


def sent_sha256(file: Found, read: Callable[[int], None]) -> str:
    """Return the SHA-256 of what would be sent, in lower-case hex; `read` hears of the bytes as they are read.

    A text that is sent inline is sent as UTF-8 without a byte order mark, whatever it was. Raises OSError, and ApiError
    as `text_of` does.
    """
    digest = hashlib.sha256()
    if is_inline(file):
        content = file.path.read_bytes()
        read(len(content))
        return hashlib.sha256(text_of(content).encode()).hexdigest()
    with file.path.open("rb") as opened:
        while block := opened.read(_BLOCK_BYTES):
            read(len(block))
            digest.update(block)
    return digest.hexdigest()


def refuse_by_size(file: Found) -> None:
    """Raise ApiError for a file that is larger than one may be, or empty."""
    most = MOST_BYTES.get(file.media_type, MOST_TEXT_BYTES)
    if file.size > most:
        message = f"The file has {file.size} bytes and may have {most}; split it."
        raise ApiError(413, "INVALID_ARGUMENT", "DOCUMENT_TOO_LARGE", message)
    if not file.size:
        raise _empty()


def refuse_by_content(file: Found) -> None:
    """Raise ApiError for a text that the service would refuse whatever its settings; OSError for an unreadable file."""
    if file.media_type == "application/pdf":
        with file.path.open("rb"):
            return
    text_of(file.path.read_bytes())


def text_of(content: bytes) -> str:
    """Return the text that a file holds; raise ApiError where it is not UTF-8 or marked UTF-16, or blank."""
    encoding = "utf-16" if content.startswith(_UTF_16_MARKS) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"The text is not UTF-8 (byte {error.start}); convert it, for example with iconv -t UTF-8."
        raise ApiError(400, "INVALID_ARGUMENT", "TEXT_MALFORMED", message) from error
    if not text.strip():
        raise _empty()
    return text


def unreadable(error: OSError) -> ApiError:
    """Return what became of a file that could not be read."""
    why = error.strerror or "it cannot be read"
    return ApiError(0, "FAILED_PRECONDITION", "FILE_UNREADABLE", f"The file could not be read: {why}.")


def _empty() -> ApiError:
    return ApiError(400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY", "The file holds no text; fill it or leave it out.")
