"""Documents in Postgres, as the writer role sees them."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple
from typing import Any

import asyncpg

from services.common.embedding.thresholds import Thresholds
from services.common.errors import AbortedError, InvalidArgumentError, NotFoundError, Reason, UnavailableError
from services.common.postgres.codecs import encode_vector
from services.common.postgres.failures import sqlstate
from services.common.postgres.pool import Pool
from services.ingest import statements
from services.ingest.batches import batches
from services.ingest.model import (
    Chunk,
    EmbeddedVector,
    EmbeddingSpace,
    Lane,
    NewDocument,
    Replacement,
    StoredDocument,
)

CHUNK_BATCH = 500
"""Chunks per statement: a statement stays small however long the document is (F19)."""
VECTOR_BATCH = 100
"""Vectors per statement: an indexed insert takes milliseconds each, and a statement has a time limit."""


class PostgresDocumentStore:
    """Reads and writes documents, each call inside one tenant."""

    def __init__(self, pool: Pool) -> None:
        """Use a pool of the writer role."""
        self._pool = pool

    async def ensure_space(self, model: str, dimensions: int, thresholds: Thresholds) -> int:
        """Return the id of the model's space, made when it is not there; the first one becomes the active one.

        `thresholds` are what it begins with; those of a space that has some are left as they are.

        Raises InvalidArgumentError with FIELD_OUT_OF_RANGE for more than 4,000 dimensions.
        """
        try:
            rows = await self._pool.fetch(statements.ENSURE_SPACE, model, dimensions, *astuple(thresholds))
        except asyncpg.PostgresError as error:
            if sqlstate(error) != "AT004":
                raise
            raise InvalidArgumentError(
                Reason.FIELD_OUT_OF_RANGE,
                "An embedding space has 1 to 4000 dimensions; ask the model for shorter vectors.",
                dimensions=dimensions,
            ) from error
        return int(rows[0][0])

    async def lane(self, name: str) -> Lane:
        """Return the lane; raise NotFoundError with LANE_UNKNOWN."""
        rows = await self._pool.fetch(statements.LANE, name)
        if not rows:
            raise _lane_unknown()
        return Lane(**rows[0])

    async def active_space(self) -> EmbeddingSpace:
        """Return the space that is searched; raise UnavailableError when there is none yet."""
        rows = await self._pool.fetch(statements.ACTIVE_SPACE)
        if not rows:
            raise UnavailableError(Reason.DATABASE_UNAVAILABLE, "There is no embedding space yet; try again.")
        return EmbeddingSpace(**rows[0])

    async def find(self, tenant: str, lane: str, source_url: str) -> StoredDocument | None:
        """Return the document at that address, if there is one."""
        async with self._pool.tenant(tenant) as connection:
            row = await connection.fetchrow(statements.FIND_DOCUMENT, tenant, lane, source_url)
        return StoredDocument(**row) if row else None

    async def embedded_chunks(self, tenant: str, space_id: int, keys: Sequence[str]) -> AbstractSet[str]:
        """Return those of `keys` whose chunk is stored with a vector in the space."""
        query = statements.EMBEDDED_CHUNKS.format(space_id=int(space_id))
        async with self._pool.tenant(tenant) as connection:
            rows = await connection.fetch(query, tenant, list(keys))
        return {row["passage_id"] for row in rows}

    async def replace(
        self,
        document: NewDocument,
        space_id: int,
        chunks: Mapping[str, Chunk],
        vectors: Mapping[str, EmbeddedVector],
    ) -> Replacement:
        """Put the document in place of its old version, whole or not at all, in one transaction.

        Raises AbortedError with DOCUMENT_BUSY or SPACE_MISMATCH, NotFoundError with LANE_UNKNOWN.
        """
        try:
            async with self._pool.tenant(document.tenant) as connection:
                return await _replace(connection, document, space_id, chunks, vectors)
        except asyncpg.UniqueViolationError as error:
            # Somebody stored the address meanwhile, under another key: the next look at it will tell.
            raise _busy() from error
        except asyncpg.ForeignKeyViolationError as error:
            raise _lane_unknown() from error


async def _replace(
    connection: asyncpg.Connection,
    document: NewDocument,
    space_id: int,
    chunks: Mapping[str, Chunk],
    vectors: Mapping[str, EmbeddedVector],
) -> Replacement:
    await _claim(connection, document, space_id)
    stored = StoredDocument(**await _put_document(connection, document, space_id, len(chunks)))
    place = (stored.tenant, stored.document_id)
    await _put_texts(connection, document, stored.version)
    removed = await connection.fetchval(statements.DELETE_OTHER_CHUNKS, *place, list(chunks))
    kept = await connection.fetchval(statements.COUNT_CHUNKS, *place)
    for some_chunks in batches(chunks, CHUNK_BATCH):
        rows = [_chunk_row(key, chunk) for key, chunk in some_chunks.items()]
        await connection.execute(statements.PUT_CHUNKS, *place, stored.lane, rows)
    for some_vectors in batches(vectors, VECTOR_BATCH):
        await _put_vectors(connection, place, space_id, some_vectors)
    if await connection.fetchval(statements.COUNT_EMBEDDED.format(space_id=int(space_id)), *place) != len(chunks):
        # What the caller had found stored was removed meanwhile: it has to embed that again.
        raise _busy()
    await connection.execute(statements.EMPTY_CACHE, *place)
    return Replacement(stored, chunks_added=len(chunks) - kept, chunks_kept=kept, chunks_removed=removed)


async def _claim(connection: asyncpg.Connection, document: NewDocument, space_id: int) -> None:
    address = (document.tenant, document.lane, document.source_url)
    if not await connection.fetchval(statements.TRY_LOCK, *address):
        raise _busy()
    active = await connection.fetchrow(statements.ACTIVE_SPACE)
    if active is None or active["space_id"] != space_id:
        raise AbortedError(Reason.SPACE_MISMATCH, "The embedding space is not the active one any more; try again.")
    if document.based_on is not None:
        version = await connection.fetchval(statements.VERSION, document.tenant, document.document_id)
        if (version or 0) != document.based_on:
            # Somebody was faster, perhaps with the same bytes: then there is nothing left to do.
            raise _busy()


async def _put_document(
    connection: asyncpg.Connection, document: NewDocument, space_id: int, chunk_count: int
) -> asyncpg.Record:
    numbered = sum(page.page is not None for page in document.pages)
    return await connection.fetchrow(
        statements.PUT_DOCUMENT,
        document.tenant,
        document.document_id,
        document.lane,
        document.source_url,
        document.title,
        document.media_type,
        document.content_sha256,
        document.settings_sha256,
        space_id,
        sum(len(page.text) for page in document.pages),
        numbered or None,
        chunk_count,
        dict(document.metadata),
    )


async def _put_texts(connection: asyncpg.Connection, document: NewDocument, version: int) -> None:
    place = (document.tenant, document.document_id)
    pages = [(*place, page.page or 0, version, page.text) for page in document.pages]
    await connection.execute(statements.DELETE_OTHER_TEXTS, *place, [page[2] for page in pages])
    await connection.executemany(statements.PUT_TEXT, pages)


def _chunk_row(key: str, chunk: Chunk) -> dict[str, Any]:
    return {
        "passage_id": key,
        "ordinal": chunk.ordinal,
        "page": chunk.page,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "token_count": chunk.token_count,
        "content": chunk.content,
        "heading_path": list(chunk.heading_path),
    }


async def _put_vectors(
    connection: asyncpg.Connection, place: tuple[str, str], space_id: int, vectors: Mapping[str, EmbeddedVector]
) -> None:
    await connection.execute(
        statements.PUT_VECTORS.format(space_id=int(space_id)),
        *place,
        list(vectors),
        [encode_vector(embedded.vector) for embedded in vectors.values()],
        [embedded.sentence_vectors for embedded in vectors.values()],
    )


def _busy() -> AbortedError:
    return AbortedError(Reason.DOCUMENT_BUSY, "The document is being ingested by somebody else; try again.")


def _lane_unknown() -> NotFoundError:
    return NotFoundError(Reason.LANE_UNKNOWN, "The lane is not known; GET /api/lanes lists those that are.")
