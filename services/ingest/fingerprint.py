"""What a stored document depends on beside its content, as a hash."""

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType

from services.ingest.chunking import CHUNKER_VERSION
from services.ingest.media import PDF
from services.ingest.model import Lane, StoredDocument

PDF_READER_VERSION = 2
"""Changes whenever the same PDF may give another text."""
_NOTHING: Mapping[str, str] = MappingProxyType({})


def settings_fingerprint(
    lane: Lane, media_type: str, title: str | None = None, metadata: Mapping[str, str] = _NOTHING, filename: str = ""
) -> bytes:
    """Hash the settings of an ingest; 32 bytes."""
    settings: dict[str, object] = {
        "chunker": CHUNKER_VERSION,
        "chunk_tokens": lane.chunk_tokens,
        "overlap_tokens": lane.overlap_tokens,
        "title": title,
        "media_type": media_type,
        "metadata": dict(metadata),
    }
    if not lane.title_prefix:
        settings["title_prefix"] = False
    if filename:
        settings["filename"] = filename
    if media_type == PDF:
        settings["pdf_reader"] = PDF_READER_VERSION
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()


def is_up_to_date(stored: StoredDocument, lane: Lane, space_id: int) -> bool:
    """Tell whether an ingest of the same bytes now, without title and metadata, would make the same of them.

    A file name that says no more than the address does makes no difference.
    """
    names = ("", stored.source_url.rpartition("/")[2])
    alike = {settings_fingerprint(lane, stored.media_type, filename=name) for name in names}
    return stored.space_id == space_id and stored.settings_sha256 in alike
