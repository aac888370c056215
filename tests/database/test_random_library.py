"""After any sequence of ingests, edits, renames and deletions the library is exactly what its documents say.

The rounds follow one seed, `LIBRARY_SEED` repeats a run, and a plain dictionary of texts is the model.
"""

import os
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import asyncpg
import pytest

from services.common.postgres.audit import audit
from services.common.postgres.connect import connection
from services.common.postgres.pool import PoolLimits, open_pool
from services.common.postgres.settings import DATABASE, Role
from services.ingest.document_store import PostgresLibraryStore
from services.ingest.ingest import IngestDocument
from services.ingest.keys import chunk_keys, document_id
from services.ingest.model import Chunk, Lane, Outcome, ReadingTask
from services.ingest.request import IngestRequest
from services.ingest.store import PostgresDocumentStore
from services.ingest.vector_cache import PostgresVectorCache
from tests.database.conftest import activate, plenty
from tests.database.servers import Server, new_server
from tests.fakes.ingest import CountingEmbedder, ReaderHere

ROUNDS = 200
AUDITED_EVERY = 20
SEED = int(os.environ.get("LIBRARY_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
KEY = bytes(range(32))
TENANT, MODEL = "apiary", "lengths"
LANE = Lane("default", "", 200, 30)
STORED = """
SELECT d.source_url, c.passage_id, c.content, c.ordinal, t.text
FROM attest.documents d
LEFT JOIN attest.rag_docs c USING (tenant, document_id)
LEFT JOIN attest.document_texts t ON (t.tenant, t.document_id) = (d.tenant, d.document_id)
ORDER BY d.source_url, c.ordinal
"""
# Which transaction wrote each row, and where it lies: a row that was written again, even to the same, differs.
ROWS = """
SELECT 'documents' AS name, ctid::text, xmin::text FROM attest.documents
UNION ALL SELECT 'document_texts', ctid::text, xmin::text FROM attest.document_texts
UNION ALL SELECT 'rag_docs', ctid::text, xmin::text FROM attest.rag_docs
UNION ALL SELECT 'embeddings', ctid::text, xmin::text FROM attest.embeddings_1
UNION ALL SELECT 'chunk_counts', ctid::text, xmin::text FROM attest.chunk_counts
UNION ALL SELECT 'embedding_cache', ctid::text, xmin::text FROM attest.embedding_cache
ORDER BY 1, 2
"""


@dataclass
class Pair:
    """The library and what it must hold."""

    server: Server
    look: asyncpg.Connection
    ingest: IngestDocument
    shelf: PostgresLibraryStore
    embedder: CountingEmbedder
    texts: dict[str, str] = field(default_factory=dict)

    async def put(self, name: str, text: str) -> None:
        """Ingest a text; only what its document did not hold before is embedded."""
        before = await self.keys(name)
        known = len(self.embedder.texts)
        done = await self.ingest(_request(name, text))
        same = self.texts.get(name) == text
        self.texts[name] = text
        after = await self.keys(name)
        assert (done.outcome is Outcome.UNCHANGED) == same
        assert len(self.embedder.texts) - known == len(after - before)

    async def remove(self, name: str) -> None:
        await self.shelf.delete(TENANT, document_id(KEY, TENANT, "default", name))
        del self.texts[name]

    async def keys(self, name: str) -> set[str]:
        """Return the keys of the passages that the document must have."""
        return set(await _keyed(name, self.texts[name])) if name in self.texts else set()

    async def stored(self) -> list[tuple[object, ...]]:
        return [tuple(row) for row in await self.look.fetch(STORED)]

    async def expected(self) -> list[tuple[object, ...]]:
        """Return what a library would hold that was filled with the texts of today alone."""
        return [
            (name, key, chunk.content, chunk.ordinal, text)
            for name, text in sorted(self.texts.items())
            for key, chunk in (await _keyed(name, text)).items()
        ]

    async def rows(self) -> list[tuple[str, ...]]:
        return [tuple(row) for row in await self.look.fetch(ROWS)]


def _request(name: str, text: str) -> IngestRequest:
    return IngestRequest.checked(
        tenant=TENANT, lane="", source_url=name, title="", media_type="text/markdown", content=text, metadata={}
    )


async def _keyed(name: str, text: str) -> dict[str, Chunk]:
    request = _request(name, text)
    read = await ReaderHere().read(request.content, ReadingTask(request.media_type, name, None, LANE))
    return chunk_keys(KEY, TENANT, "default", name, read.chunks)


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    """Open an empty library on a server of its own."""
    async with new_server() as server, server.running():
        await server.migrate()
        async with (
            connection(server.superuser.in_database(DATABASE)) as look,
            open_pool(server.role(Role.WRITER), PoolLimits(connections=2, command_s=60), plenty) as writer,
        ):
            store, embedder = PostgresDocumentStore(writer), CountingEmbedder()
            await activate(server, store, MODEL, 2)
            cache = PostgresVectorCache(writer)
            ingest = IngestDocument(store, cache, embedder, ReaderHere(), model=MODEL, content_key=KEY)
            yield Pair(server, look, ingest, PostgresLibraryStore(writer), embedder)


def _paragraph(dice: random.Random) -> str:
    kind = dice.choice(("# {}", "{}.", "- {}", "```\n{}\n```", "| a | b |\n|---|---|\n| {} | 1 |"))
    words = dice.choices(("bee", "Biene", "蜂蜜", "naïve", "hive\t", "\U0001f41d", "wax"), k=dice.randint(1, 60))
    return kind.format(" ".join(words))


def _edited(dice: random.Random, text: str) -> str:
    """Change, drop, add, double or move a paragraph."""
    parts = text.split("\n\n")
    place = dice.randrange(len(parts))
    match dice.choice(("change", "drop", "add", "double", "move")):
        case "change":
            parts[place] = _paragraph(dice)
        case "drop" if len(parts) > 1:
            del parts[place]
        case "double":
            parts.insert(place, parts[place])
        case "move":
            parts.append(parts.pop(place))
        case _:
            parts.insert(place, _paragraph(dice))
    return "\n\n".join(parts)


async def _play(pair: Pair, dice: random.Random, number: int) -> None:
    deed = dice.choice(("new", "edit", "edit", "again", "rename", "delete")) if pair.texts else "new"
    name = dice.choice(sorted(pair.texts)) if pair.texts else ""
    match deed:
        case "new":
            await pair.put(f"docs/{number}.md", "\n\n".join(_paragraph(dice) for _ in range(dice.randint(1, 12))))
        case "edit":
            await pair.put(name, _edited(dice, pair.texts[name]))
        case "again":
            await pair.put(name, pair.texts[name])
        case "rename":
            text = pair.texts[name]
            await pair.remove(name)
            await pair.put(f"docs/{number}-renamed.md", text)
        case "delete":
            await pair.remove(name)


async def test_the_library_is_what_its_documents_say_after_every_round(pair: Pair) -> None:
    dice = random.Random(SEED)  # noqa: S311  # chooses deeds, guards nothing
    for number in range(ROUNDS):
        await _play(pair, dice, number)
        assert await pair.stored() == await pair.expected(), f"seed {SEED}, round {number}"
        if number % AUDITED_EVERY == 0:
            done = await audit(pair.server.superuser.in_database(DATABASE))
            assert done.findings == (), f"seed {SEED}, round {number}"


async def test_the_same_documents_again_embed_nothing_and_write_nothing(pair: Pair) -> None:
    dice = random.Random(SEED)  # noqa: S311  # chooses texts, guards nothing
    texts = {f"docs/{n}.md": "\n\n".join(_paragraph(dice) for _ in range(8)) for n in range(20)}
    for name, text in texts.items():
        await pair.put(name, text)
    embedded, rows = len(pair.embedder.texts), await pair.rows()

    for _ in range(2):
        for name, text in texts.items():
            await pair.put(name, text)

    assert len(pair.embedder.texts) == embedded
    assert await pair.rows() == rows
