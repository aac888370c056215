"""The SQL of the document store."""

LANE = "SELECT name, description, chunk_tokens, overlap_tokens, title_prefix FROM attest.lanes WHERE name = $1"

ENSURE_SPACE = """
WITH made AS MATERIALIZED (SELECT attest.create_embedding_space($1, $2) AS space_id)
SELECT space_id, attest.set_thresholds(space_id, $3, $4, only_unset => true) FROM made
"""

ACTIVE_SPACE = "SELECT space_id, model, dimensions FROM attest.embedding_spaces WHERE state = 'ACTIVE'"

FIND_DOCUMENT = """
SELECT document_id, tenant, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, page_count, chunk_count, metadata, created_at, updated_at
FROM attest.documents
WHERE tenant = $1 AND lane = $2 AND source_url = $3
"""

VERSION = "SELECT version FROM attest.documents WHERE tenant = $1 AND document_id = $2"

EMBEDDED_CHUNKS = """
SELECT c.passage_id
FROM attest.rag_docs c
JOIN attest.embeddings_{space_id} e ON e.chunk_id = c.chunk_id
WHERE c.tenant = $1 AND c.passage_id = ANY ($2::text[])
"""

# Two ingests of one address meet here, the first one included, when no row is there to be locked.
TRY_LOCK = (
    "SELECT pg_try_advisory_xact_lock(hashtextextended(jsonb_build_array($1::text, $2::text, $3::text)::text, 0))"
)

PUT_DOCUMENT = """
INSERT INTO attest.documents AS d (
  tenant, document_id, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, page_count, chunk_count, metadata
)
VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (tenant, document_id) DO UPDATE SET
  lane = excluded.lane, source_url = excluded.source_url, title = excluded.title, media_type = excluded.media_type,
  version = d.version + 1, content_sha256 = excluded.content_sha256, settings_sha256 = excluded.settings_sha256,
  space_id = excluded.space_id, char_count = excluded.char_count, page_count = excluded.page_count,
  chunk_count = excluded.chunk_count, metadata = excluded.metadata, updated_at = now()
RETURNING document_id, tenant, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, page_count, chunk_count, metadata, created_at, updated_at
"""

PUT_TEXT = """
INSERT INTO attest.document_texts AS t (tenant, document_id, page, version, text)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant, document_id, page) DO UPDATE SET version = excluded.version, text = excluded.text
WHERE t.text IS DISTINCT FROM excluded.text
"""

DELETE_OTHER_TEXTS = """
DELETE FROM attest.document_texts WHERE tenant = $1 AND document_id = $2 AND page <> ALL ($3::int[])
"""

DELETE_OTHER_CHUNKS = """
WITH gone AS (
  DELETE FROM attest.rag_docs
  WHERE tenant = $1 AND document_id = $2 AND passage_id <> ALL ($3::text[])
  RETURNING 1
)
SELECT count(*) FROM gone
"""

COUNT_CHUNKS = "SELECT count(*) FROM attest.rag_docs WHERE tenant = $1 AND document_id = $2"

PUT_CHUNKS = """
INSERT INTO attest.rag_docs AS c (
  tenant, document_id, lane, passage_id, ordinal, page, char_start, char_end, token_count, content, heading_path
)
SELECT $1, $2, $3, n.passage_id, n.ordinal, n.page, n.char_start, n.char_end, n.token_count, n.content, n.heading_path
FROM jsonb_to_recordset($4::jsonb) AS n(
  passage_id text, ordinal int, page int, char_start int, char_end int, token_count int, content text,
  heading_path text[]
)
ON CONFLICT (tenant, passage_id) DO UPDATE SET
  ordinal = excluded.ordinal, page = excluded.page, char_start = excluded.char_start, char_end = excluded.char_end,
  token_count = excluded.token_count, content = excluded.content, heading_path = excluded.heading_path
WHERE (c.ordinal, c.page, c.char_start, c.char_end, c.token_count, c.content, c.heading_path)
  IS DISTINCT FROM (excluded.ordinal, excluded.page, excluded.char_start, excluded.char_end, excluded.token_count,
    excluded.content, excluded.heading_path)
"""

PUT_VECTORS = """
INSERT INTO attest.embeddings_{space_id} AS e (
  chunk_id, tenant, lane, document_id, embedding, sentence_vectors
)
SELECT c.chunk_id, c.tenant, c.lane, c.document_id, n.embedding, n.sentence_vectors
FROM unnest($3::text[], $4::ext.vector[], $5::bytea[]) AS n(passage_id, embedding, sentence_vectors)
JOIN attest.rag_docs c ON c.tenant = $1 AND c.document_id = $2 AND c.passage_id = n.passage_id
ON CONFLICT (chunk_id) DO UPDATE SET embedding = excluded.embedding, sentence_vectors = excluded.sentence_vectors
WHERE (e.embedding, e.sentence_vectors) IS DISTINCT FROM (excluded.embedding, excluded.sentence_vectors)
"""

COUNT_EMBEDDED = """
SELECT count(*)
FROM attest.rag_docs c
JOIN attest.embeddings_{space_id} e ON e.chunk_id = c.chunk_id
WHERE c.tenant = $1 AND c.document_id = $2
"""

GET_DOCUMENT = """
SELECT document_id, tenant, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, page_count, chunk_count, metadata, created_at, updated_at
FROM attest.documents
WHERE tenant = $1 AND document_id = $2
"""

# Under a policy an expression about the place (a coalesce for the first page) would keep a generic plan from the index.
LIST_DOCUMENTS = """
SELECT document_id, tenant, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, page_count, chunk_count, metadata, created_at, updated_at
FROM attest.documents
WHERE tenant = $1 AND (updated_at, document_id) < ($2::timestamptz, $3) AND starts_with(source_url, $5)
ORDER BY updated_at DESC, document_id DESC
LIMIT $4
"""

LIST_DOCUMENTS_OF_LANE = """
SELECT document_id, tenant, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, page_count, chunk_count, metadata, created_at, updated_at
FROM attest.documents
WHERE tenant = $1 AND (updated_at, document_id) < ($2::timestamptz, $3) AND starts_with(source_url, $5)
  AND lane = $6
ORDER BY updated_at DESC, document_id DESC
LIMIT $4
"""

LIST_LANES = """
SELECT l.name, l.description, l.chunk_tokens, l.overlap_tokens, l.title_prefix,
  (SELECT count(*) FROM attest.documents d WHERE d.tenant = $1 AND d.lane = l.name) AS document_count
FROM attest.lanes l
WHERE l.name > $2
ORDER BY l.name
LIMIT $3
"""

SPACES = "SELECT space_id FROM attest.embedding_spaces ORDER BY space_id"

# Nobody adds a vector to a chunk that is held.
HOLD_CHUNKS = "SELECT chunk_id FROM attest.rag_docs WHERE tenant = $1 AND document_id = $2 FOR UPDATE"

DELETE_VECTORS = """
WITH gone AS (DELETE FROM attest.embeddings_{space_id} WHERE chunk_id = ANY ($1::bigint[]) RETURNING 1)
SELECT count(*) FROM gone
"""

# Texts and chunks go with the document.
DELETE_DOCUMENT = """
DELETE FROM attest.documents
WHERE tenant = $1 AND document_id = $2
RETURNING document_id, tenant, lane, source_url, title, media_type, version, content_sha256, settings_sha256, space_id,
  char_count, page_count, chunk_count, metadata, created_at, updated_at
"""

GET_CACHED = """
SELECT passage_id, embedding, sentence_vectors
FROM attest.embedding_cache
WHERE tenant = $1 AND document_id = $2 AND space_id = $3 AND passage_id = ANY ($4::text[])
"""

PUT_CACHED = """
INSERT INTO attest.embedding_cache (tenant, document_id, space_id, passage_id, embedding, sentence_vectors)
SELECT $1, $2, $3, n.passage_id, n.embedding, n.sentence_vectors
FROM unnest($4::text[], $5::ext.vector[], $6::bytea[]) AS n(passage_id, embedding, sentence_vectors)
ON CONFLICT (tenant, document_id, space_id, passage_id) DO NOTHING
"""

EMPTY_CACHE = "DELETE FROM attest.embedding_cache WHERE tenant = $1 AND document_id = $2"

SWEEP_CACHE = "SELECT attest.sweep_embedding_cache()"
