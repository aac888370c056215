-- migrate:up

-- Services read the version and wait for it.
ALTER TABLE attest.schema_migrations ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone_reads ON attest.schema_migrations FOR SELECT USING (true);
GRANT SELECT ON attest.schema_migrations TO attest_writer, attest_reader, attest_auth;

-- Groups of documents chunked under the same rules; configuration, the same for every tenant.
CREATE TABLE attest.lanes (
  name text CONSTRAINT lanes_pk PRIMARY KEY
    CONSTRAINT lanes_name_form CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  description text NOT NULL DEFAULT '',
  -- The bounds of the chunker: smaller chunks hold no sentence, larger overlaps make no progress.
  chunk_tokens integer NOT NULL CONSTRAINT lanes_chunk_tokens_enough CHECK (chunk_tokens >= 16),
  overlap_tokens integer NOT NULL
    CONSTRAINT lanes_overlap_fits CHECK (overlap_tokens >= 0 AND overlap_tokens * 2 < chunk_tokens)
);
ALTER TABLE attest.lanes ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone_reads ON attest.lanes FOR SELECT USING (true);
GRANT SELECT ON attest.lanes TO attest_writer, attest_reader;

INSERT INTO attest.lanes (name, description, chunk_tokens, overlap_tokens)
VALUES ('default', 'Documents without a lane of their own.', 200, 30);

-- Vector spaces; the rows of each lie in a table of its own, attest.embeddings_<space_id>.
CREATE TABLE attest.embedding_spaces (
  space_id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT embedding_spaces_pk PRIMARY KEY,
  model text NOT NULL CONSTRAINT embedding_spaces_model_named CHECK (model <> '' AND length(model) <= 200),
  dimensions integer NOT NULL CONSTRAINT embedding_spaces_dimensions_range CHECK (dimensions BETWEEN 1 AND 4000),
  element_type text NOT NULL CONSTRAINT embedding_spaces_element_known CHECK (element_type IN ('vector', 'halfvec')),
  index_kind text NOT NULL CONSTRAINT embedding_spaces_index_known CHECK (index_kind IN ('hnsw', 'exact')),
  -- Cosine similarity below which the vector leg drops a passage; it belongs to the model.
  min_similarity double precision NOT NULL
    CONSTRAINT embedding_spaces_min_similarity_range CHECK (min_similarity BETWEEN -1 AND 1),
  state text NOT NULL DEFAULT 'INACTIVE'
    CONSTRAINT embedding_spaces_state_known CHECK (state IN ('INACTIVE', 'ACTIVE')),
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT embedding_spaces_model_once UNIQUE (model, dimensions)
);
CREATE UNIQUE INDEX embedding_spaces_one_active ON attest.embedding_spaces (state) WHERE state = 'ACTIVE';
ALTER TABLE attest.embedding_spaces ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone_reads ON attest.embedding_spaces FOR SELECT USING (true);
GRANT SELECT ON attest.embedding_spaces TO attest_writer, attest_reader;

-- Keys begin with the tenant, so that a key of one tenant can neither meet nor betray one of another.
CREATE TABLE attest.documents (
  tenant text NOT NULL CONSTRAINT documents_tenant_named CHECK (tenant <> ''),
  document_id text NOT NULL CONSTRAINT documents_id_named CHECK (document_id <> ''),
  lane text NOT NULL CONSTRAINT documents_lane_known REFERENCES attest.lanes (name),
  source_url text NOT NULL CONSTRAINT documents_source_url_named CHECK (source_url <> ''),
  title text NOT NULL,
  media_type text NOT NULL,
  version integer NOT NULL CONSTRAINT documents_version_positive CHECK (version > 0),
  content_sha256 bytea NOT NULL CONSTRAINT documents_content_hashed CHECK (octet_length(content_sha256) = 32),
  settings_sha256 bytea NOT NULL CONSTRAINT documents_settings_hashed CHECK (octet_length(settings_sha256) = 32),
  space_id integer NOT NULL
    CONSTRAINT documents_space_known REFERENCES attest.embedding_spaces (space_id),
  char_count integer NOT NULL CONSTRAINT documents_char_count_range CHECK (char_count >= 0),
  -- NULL for a document without pages.
  page_count integer CONSTRAINT documents_page_count_range CHECK (page_count > 0),
  chunk_count integer NOT NULL CONSTRAINT documents_chunk_count_range CHECK (chunk_count >= 0),
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT documents_pk PRIMARY KEY (tenant, document_id),
  CONSTRAINT documents_source_once UNIQUE (tenant, lane, source_url)
);
-- Lists begin with the newest and are read on from any place.
CREATE INDEX documents_by_time ON attest.documents (tenant, updated_at, document_id);
CREATE INDEX documents_by_lane ON attest.documents (tenant, lane, updated_at, document_id);
ALTER TABLE attest.documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE attest.documents FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON attest.documents
  USING (tenant = current_setting('attest.tenant', true))
  WITH CHECK (tenant = current_setting('attest.tenant', true));
GRANT SELECT ON attest.documents TO attest_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON attest.documents TO attest_writer;

-- Stored text, by page; character offsets of passages and citations are offsets into it, in code points.
CREATE TABLE attest.document_texts (
  tenant text NOT NULL CONSTRAINT document_texts_tenant_named CHECK (tenant <> ''),
  document_id text NOT NULL,
  -- 0 for a document without pages.
  page integer NOT NULL CONSTRAINT document_texts_page_range CHECK (page >= 0),
  -- Version of the document that brought this text; later versions left it as it is.
  version integer NOT NULL CONSTRAINT document_texts_version_positive CHECK (version > 0),
  text text NOT NULL,
  CONSTRAINT document_texts_pk PRIMARY KEY (tenant, document_id, page),
  CONSTRAINT document_texts_document FOREIGN KEY (tenant, document_id)
    REFERENCES attest.documents (tenant, document_id) ON DELETE CASCADE
);
ALTER TABLE attest.document_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE attest.document_texts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON attest.document_texts
  USING (tenant = current_setting('attest.tenant', true))
  WITH CHECK (tenant = current_setting('attest.tenant', true));
GRANT SELECT ON attest.document_texts TO attest_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON attest.document_texts TO attest_writer;

-- migrate:down

DROP TABLE attest.document_texts;
DROP TABLE attest.documents;
DROP TABLE attest.embedding_spaces;
DROP TABLE attest.lanes;
REVOKE SELECT ON attest.schema_migrations FROM attest_writer, attest_reader, attest_auth;
DROP POLICY everyone_reads ON attest.schema_migrations;
ALTER TABLE attest.schema_migrations DISABLE ROW LEVEL SECURITY;
