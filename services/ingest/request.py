"""A request to ingest, checked before anything is done for it."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self
from urllib.parse import urlsplit

from services.common.errors import InvalidArgumentError, Reason
from services.common.text import is_blank, is_well_formed, label
from services.ingest.media import MARKDOWN, PLAIN_TEXT, address_of, detected, media_type
from services.ingest.model import Content

DEFAULT_LANE = "default"
MAX_CONTENT_BYTES = 8 * 1024 * 1024
MAX_SOURCE_URL = 2048
MAX_TITLE = 300
MAX_FILENAME = 1024
MAX_METADATA_KEYS = 64
MAX_METADATA_KEY = 64
MAX_METADATA_VALUE = 1024
_SCHEMES = ("", "http", "https", "file")
_LANE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_UNSEEN = re.compile(r"[\s\x00-\x20\x7f-\x9f\ufeff\u202a-\u202e\u2066-\u2069]")
"""White space, controls, and marks that turn the direction of what follows."""


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """One document to ingest for one tenant; make it with `checked`."""

    tenant: str
    lane: str
    source_url: str
    title: str | None
    media_type: str
    content: Content
    metadata: Mapping[str, str]
    filename: str = ""
    """Address whose last part is the title of a document without one; empty for `source_url`."""

    @classmethod
    def checked(
        cls,
        *,
        tenant: str,
        lane: str,
        source_url: str,
        title: str,
        media_type: str,
        content: str,
        metadata: Mapping[str, str],
    ) -> Self:
        """Return the request; empty fields take their defaults. Raises InvalidArgumentError that names the field."""
        _check_source_url(source_url)
        _check_text("title", title, MAX_TITLE)
        _check_metadata(metadata)
        return cls(
            tenant=tenant,
            lane=checked_lane(lane),
            source_url=source_url,
            title=label(title) or None,
            media_type=_media_type(media_type, source_url),
            content=_content(content),
            metadata=MappingProxyType(dict(metadata)),
        )


@dataclass(frozen=True, slots=True)
class UploadHeader:
    """What the first message of an upload says of the document; make it with `checked`."""

    tenant: str
    lane: str
    source_url: str
    title: str | None
    content_type: str
    filename: str
    """The file's name as a relative address; empty where none was sent."""

    @classmethod
    def checked(cls, *, tenant: str, lane: str, source_url: str, title: str, filename: str, content_type: str) -> Self:
        """Return the header; empty fields take their defaults. Raises InvalidArgumentError that names the field."""
        _check_text("filename", filename, MAX_FILENAME)
        _check_text("title", title, MAX_TITLE)
        named = address_of(filename)
        if not (source_url or named):
            raise InvalidArgumentError(
                Reason.FIELD_MISSING,
                "source_url and filename are missing; give the document an address.",
                field="source_url",
            )
        _check_source_url(source_url or named)
        return cls(
            tenant=tenant,
            lane=checked_lane(lane),
            source_url=source_url or named,
            title=label(title) or None,
            content_type=content_type,
            filename=named,
        )

    def media_type(self, head: bytes) -> str:
        """Return the kind of a document that begins with `head`; raise as `media.detected` does."""
        return detected(head, self.content_type, self.filename or self.source_url)

    def request(self, media_type: str, content: Content) -> IngestRequest:
        """Return the request to ingest what came in."""
        return IngestRequest(
            self.tenant, self.lane, self.source_url, self.title, media_type, content, {}, self.filename
        )


def checked_lane(lane: str) -> str:
    """Return the lane's name, the default one for none; raise InvalidArgumentError with FIELD_INVALID."""
    if not lane:
        return DEFAULT_LANE
    if not _LANE.fullmatch(lane):
        raise InvalidArgumentError(
            Reason.FIELD_INVALID,
            "lane must be 1 to 64 lower-case letters, digits, '-' or '_', and begin with a letter or digit.",
            field="lane",
        )
    return lane


def checked_prefix(source_url_prefix: str) -> str:
    """Return what addresses shall begin with; raise InvalidArgumentError."""
    _check_text("source_url_prefix", source_url_prefix, MAX_SOURCE_URL)
    return source_url_prefix


def _check_source_url(source_url: str) -> None:
    if not source_url:
        raise InvalidArgumentError(
            Reason.FIELD_MISSING, "source_url is missing; give the document an address.", field="source_url"
        )
    _check_text("source_url", source_url, MAX_SOURCE_URL)
    if _UNSEEN.search(source_url) or is_blank(source_url):
        raise _invalid("source_url", "source_url must not hold white space or unseen characters; encode them.")
    try:
        parts = urlsplit(source_url)
        names_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _invalid("source_url", "source_url cannot be read as an address.") from None
    if parts.scheme not in _SCHEMES:
        raise _invalid("source_url", "source_url must be http, https, file or a path.")
    if (parts.scheme in {"http", "https"} or parts.netloc) and not names_host:
        raise _invalid("source_url", "source_url names no host; write http://host/path, or a path alone.")
    if parts.netloc and not parts.scheme:
        raise _invalid("source_url", "source_url begins with // and without http or https; write one of them.")
    if parts.username is not None or parts.password is not None:
        raise _invalid("source_url", "source_url holds a user or a password, which every answer would show.")


def _content(content: str) -> Content:
    if not content.strip():
        raise InvalidArgumentError(
            Reason.FIELD_MISSING, "content is missing; send the document's text.", field="content"
        )
    # NUL is not refused here: it is common in extracted text and normalisation takes it out.
    if not is_well_formed(content.replace("\0", "")):
        raise InvalidArgumentError(Reason.TEXT_MALFORMED, "content is not well-formed Unicode.", field="content")
    data = content.encode()
    size = len(data)
    if size > MAX_CONTENT_BYTES:
        raise InvalidArgumentError(
            Reason.DOCUMENT_TOO_LARGE,
            f"content has {size} bytes and may have {MAX_CONTENT_BYTES}; split the document.",
            field="content",
            bytes=size,
            most=MAX_CONTENT_BYTES,
        )
    return Content(hashlib.sha256(data).digest(), size, data)


def _check_metadata(metadata: Mapping[str, str]) -> None:
    if len(metadata) > MAX_METADATA_KEYS:
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE,
            f"metadata may have {MAX_METADATA_KEYS} keys.",
            field="metadata",
            most=MAX_METADATA_KEYS,
        )
    for key, value in metadata.items():
        if not key:
            raise _invalid("metadata", "metadata must not have an empty key.")
        _check_text("metadata", key, MAX_METADATA_KEY)
        _check_text("metadata", value, MAX_METADATA_VALUE)


def _check_text(field: str, text: str, most: int) -> None:
    if not is_well_formed(text):
        raise InvalidArgumentError(
            Reason.TEXT_MALFORMED, f"{field} holds NUL or a lone surrogate; take it out.", field=field
        )
    if len(text) > most:
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE, f"{field} may have {most} characters.", field=field, most=most
        )


def _media_type(given: str, source_url: str) -> str:
    if given and given not in {MARKDOWN, PLAIN_TEXT}:
        raise _invalid("media_type", f"media_type must be {MARKDOWN} or {PLAIN_TEXT}; send a PDF by UploadDocument.")
    return given or media_type(source_url)


def _invalid(field: str, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(Reason.FIELD_INVALID, message, field=field)
