"""Documents, chunks and vectors to store."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.ingest.model import Chunk, EmbeddedVector, NewDocument, PageText, Vector

DIMENSIONS = 8
MODEL = "model-of-the-tests"


@dataclass(frozen=True)
class Sample:
    """The arguments of a replacement, beside the space."""

    document: NewDocument
    chunks: Mapping[str, Chunk]
    vectors: Mapping[str, EmbeddedVector]


def vector(*values: float, dimensions: int = DIMENSIONS) -> Vector:
    """Make a vector that begins with `values` and goes on with zeros."""
    made = np.zeros(dimensions, dtype=np.float32)
    made[: len(values)] = values
    return made


def around(direction: Vector, count: int, seed: int = 7) -> list[Vector]:
    """Make vectors scattered about a direction."""
    scatter = np.random.default_rng(seed).normal(scale=0.2, size=(count, len(direction)))
    return list((direction + scatter).astype(np.float32))


def key(*parts: str) -> str:
    """Make an id in the form of a passage's."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def sample(
    tenant: str, texts: Sequence[str], vectors: Sequence[Vector], name: str = "one.md", **changes: Any
) -> Sample:
    """Make a document of these passages, one per line; `changes` are fields of the document."""
    keys = [key(tenant, name, text) for text in texts]
    chunks, position = {}, 0
    for ordinal, (chunk_key, text) in enumerate(zip(keys, texts, strict=True)):
        chunks[chunk_key] = Chunk(
            ordinal=ordinal,
            content=text,
            char_start=position,
            char_end=position + len(text),
            heading_path=("Handbook", 'A "quoted" {heading}, with commas'),
            page=None,
            token_count=len(text.split()),
            embedding_text=text,
        )
        position += len(text) + 1
    fields: dict[str, Any] = {
        "document_id": key(tenant, name),
        "tenant": tenant,
        "lane": "default",
        "source_url": f"docs/{name}",
        "title": "",
        "media_type": "text/markdown",
        "content_sha256": hashlib.sha256("\n".join(texts).encode()).digest(),
        "settings_sha256": hashlib.sha256(b"settings").digest(),
        "metadata": {"author": "Ä. Writer"},
        "pages": (PageText(None, "\n".join(texts)),),
    }
    embedded = {k: EmbeddedVector(v, b"\x01\x02") for k, v in zip(keys, vectors, strict=True)}
    return Sample(NewDocument(**{**fields, **changes}), chunks, embedded)
