"""Ids that say nothing of what they stand for, and the same thing always gets the same one."""

import hmac
from collections import Counter
from collections.abc import Iterable

from services.ingest.model import Chunk


def document_id(content_key: bytes, tenant: str, lane: str, source_url: str) -> str:
    """Return the id of the document at that address: 32 hex characters, the same for all its versions."""
    return _digest(content_key, "document", tenant, lane, source_url)


def chunk_keys(
    content_key: bytes, tenant: str, lane: str, source_url: str, chunks: Iterable[Chunk]
) -> dict[str, Chunk]:
    """Return the chunks in order, each under its key of 32 hex characters.

    A key depends on the address, on what is shown and on what is embedded, not on the position: text that moves keeps
    its key and its vector. Equal chunks of one document are told apart by the number of the repeat.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    keyed = {}
    for chunk in chunks:
        identity = (chunk.content, chunk.embedding_text, *chunk.heading_path)
        keyed[_digest(content_key, "chunk", tenant, lane, source_url, str(seen[identity]), *identity)] = chunk
        seen[identity] += 1
    return keyed


def _digest(key: bytes, *fields: str) -> str:
    """Return the first 16 bytes of HMAC-SHA256 over the fields, each led by its length, so that no two lists meet."""
    encoded = [field.encode() for field in fields]
    message = b"".join(len(field).to_bytes(8, "big") + field for field in encoded)
    return hmac.digest(key, message, "sha256")[:16].hex()
