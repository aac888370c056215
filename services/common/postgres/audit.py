"""Proves that a library is whole: nothing half there, nothing left behind, every passage a quotation of its document.

One read-only transaction sees one moment of the database, so ingests may go on meanwhile.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import asyncpg

from services.common.postgres.connect import connection
from services.common.postgres.settings import DatabaseSettings

EXAMPLES = 5
"""Places named of each finding."""
CHUNKS_AT_ONCE = 200
"""Passages compared with their text per round trip."""

SEES_ALL = "SELECT NOT row_security_active('attest.documents')"

SPACES = "SELECT space_id FROM attest.embedding_spaces ORDER BY space_id"

TOTALS = """
SELECT (SELECT count(*) FROM attest.documents) AS documents, (SELECT count(*) FROM attest.rag_docs) AS chunks
"""

# What each finding means, and the places where it is so.
CHECKS: Mapping[str, str] = {
    "a document has not the text that it counts": """
SELECT d.tenant, d.document_id FROM attest.documents d
LEFT JOIN (SELECT tenant, document_id, sum(length(text)) AS chars, count(*) FILTER (WHERE page > 0) AS pages
           FROM attest.document_texts GROUP BY 1, 2) t USING (tenant, document_id)
WHERE d.char_count <> coalesce(t.chars, 0) OR coalesce(d.page_count, 0) <> coalesce(t.pages, 0)
""",
    "a document has not the passages that it counts": """
SELECT d.tenant, d.document_id FROM attest.documents d
LEFT JOIN (SELECT tenant, document_id, count(*) AS chunks, count(DISTINCT ordinal) AS ordinals
           FROM attest.rag_docs GROUP BY 1, 2) c USING (tenant, document_id)
WHERE d.chunk_count <> coalesce(c.chunks, 0) OR coalesce(c.chunks, 0) <> coalesce(c.ordinals, 0)
""",
    "a text belongs to no document": """
SELECT t.tenant, t.document_id FROM attest.document_texts t
WHERE NOT EXISTS (SELECT FROM attest.documents d WHERE (d.tenant, d.document_id) = (t.tenant, t.document_id))
""",
    "a passage belongs to no document, or to one of another lane": """
SELECT c.tenant, c.document_id FROM attest.rag_docs c
LEFT JOIN attest.documents d USING (tenant, document_id)
WHERE d.lane IS DISTINCT FROM c.lane
""",
    "the passages of a lane are miscounted": """
SELECT tenant, lane FROM attest.chunk_counts k
FULL JOIN (SELECT tenant, lane, count(*) AS chunks FROM attest.rag_docs GROUP BY 1, 2) c USING (tenant, lane)
WHERE coalesce(k.chunks, 0) <> coalesce(c.chunks, 0)
""",
    "a vector waits for a document that is stored with it, or for more than two days": """
SELECT e.tenant, e.document_id FROM attest.embedding_cache e
WHERE e.created_at < now() - interval '2 days'
  OR EXISTS (SELECT FROM attest.documents d JOIN attest.rag_docs c USING (tenant, document_id)
             WHERE d.tenant = e.tenant AND d.document_id = e.document_id AND d.space_id = e.space_id
               AND c.passage_id = e.passage_id AND d.updated_at > e.created_at)
""",
    "not one embedding space is active, though there are some": """
SELECT state, count(*)::text FROM attest.embedding_spaces GROUP BY 1
HAVING state = 'ACTIVE' AND count(*) <> 1
UNION ALL
SELECT 'ACTIVE', '0' WHERE EXISTS (SELECT FROM attest.embedding_spaces)
  AND NOT EXISTS (SELECT FROM attest.embedding_spaces WHERE state = 'ACTIVE')
""",
}

SPACE_CHECKS: Mapping[str, str] = {
    "a vector belongs to no passage, or to one of another place": """
SELECT e.tenant, e.document_id FROM attest.embeddings_{space_id} e
LEFT JOIN attest.rag_docs c USING (chunk_id)
WHERE (c.tenant, c.lane, c.document_id) IS DISTINCT FROM (e.tenant, e.lane, e.document_id)
""",
    "a passage has no vector in the space of its document": """
SELECT c.tenant, c.document_id FROM attest.rag_docs c
JOIN attest.documents d USING (tenant, document_id)
WHERE d.space_id = {space_id}
  AND NOT EXISTS (SELECT FROM attest.embeddings_{space_id} e WHERE e.chunk_id = c.chunk_id)
""",
}

MISQUOTED = "a passage is not what its document says at its place"

# The text comes with the first passage of its page and with no other: a text may have megabytes.
QUOTATIONS = """
SELECT c.tenant, c.document_id, coalesce(c.page, 0) AS page, c.char_start, c.char_end, c.content,
  CASE WHEN row_number() OVER place = 1 THEN t.text END AS text
FROM attest.rag_docs c
LEFT JOIN attest.document_texts t
  ON (t.tenant, t.document_id, t.page) = (c.tenant, c.document_id, coalesce(c.page, 0))
WINDOW place AS (PARTITION BY c.tenant, c.document_id, coalesce(c.page, 0) ORDER BY c.ordinal)
ORDER BY c.tenant, c.document_id, coalesce(c.page, 0), c.ordinal
"""

Heard = Callable[[int, int], None]
"""Hears how many of how many passages have been compared."""


class AuditError(Exception):
    """The audit could not be made; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be."""

    what: str
    count: int
    examples: tuple[tuple[str, str], ...]
    """The first places: tenant, and document or lane."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What was looked at and what was found; nothing found means a whole library."""

    documents: int
    chunks: int
    findings: tuple[Finding, ...]


async def audit(way: DatabaseSettings, heard: Heard = lambda _done, _of: None) -> Audit:
    """Audit all tenants of a database.

    Raises AuditError when the role of `way` is confined to one tenant, UnavailableError when it cannot enter.
    """
    async with connection(way) as opened, opened.transaction(isolation="repeatable_read", readonly=True):
        await opened.execute("SET LOCAL statement_timeout = 0")
        if not await opened.fetchval(SEES_ALL):
            raise AuditError("This role sees one tenant only; audit as a superuser or a role with BYPASSRLS.")
        totals = await opened.fetchrow(TOTALS)
        findings = [await _found(opened, what, query) for what, query in await _checks(opened)]
        findings.append(await _misquoted(opened, totals["chunks"], heard))
        return Audit(totals["documents"], totals["chunks"], tuple(finding for finding in findings if finding.count))


async def _checks(opened: asyncpg.Connection) -> list[tuple[str, str]]:
    spaces = [int(row["space_id"]) for row in await opened.fetch(SPACES)]
    of_spaces = [(what, query.format(space_id=id_)) for id_ in spaces for what, query in SPACE_CHECKS.items()]
    return [*CHECKS.items(), *of_spaces]


async def _found(opened: asyncpg.Connection, what: str, query: str) -> Finding:
    count, places = 0, []
    async for row in opened.cursor(query, prefetch=CHUNKS_AT_ONCE):
        count += 1
        if count <= EXAMPLES:
            places.append((row[0], row[1]))
    return Finding(what, count, tuple(places))


async def _misquoted(opened: asyncpg.Connection, chunks: int, heard: Heard) -> Finding:
    count, places, done = 0, [], 0
    async for text, passages in _pages(opened):
        for row in passages:
            done += 1
            if text is None or text[row["char_start"] : row["char_end"]] != row["content"]:
                count += 1
                if count <= EXAMPLES:
                    places.append((row["tenant"], row["document_id"]))
        heard(done, chunks)
    return Finding(MISQUOTED, count, tuple(places))


async def _pages(opened: asyncpg.Connection) -> AsyncIterator[tuple[str | None, Iterable[asyncpg.Record]]]:
    """Give passages with the text of their page; the passages of a page may come in several parts."""
    cursor = await opened.cursor(QUOTATIONS)
    place, text = None, None
    while rows := await cursor.fetch(CHUNKS_AT_ONCE):
        for here, passages in groupby(rows, key=itemgetter("tenant", "document_id", "page")):
            part = list(passages)
            if here != place:
                place, text = here, part[0]["text"]
            yield text, part
