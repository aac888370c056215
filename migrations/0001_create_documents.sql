-- migrate:up

-- Services read the version and wait for it.
ALTER TABLE attest.schema_migrations ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone_reads ON attest.schema_migrations FOR SELECT USING (true);
GRANT SELECT ON attest.schema_migrations TO attest_writer, attest_reader, attest_auth;
COMMENT ON TABLE attest.schema_migrations IS 'Migrations that ran here; kept by dbmate.';
COMMENT ON COLUMN attest.schema_migrations.version IS
  'Digits before the first underscore of the file''s name.';

CREATE FUNCTION attest.separate_tenants(target regclass) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format(
    'CREATE POLICY tenant ON %s
       USING (tenant = current_setting(''attest.tenant'', true))
       WITH CHECK (tenant = current_setting(''attest.tenant'', true))',
    target);
END
$$;
REVOKE ALL ON FUNCTION attest.separate_tenants(regclass) FROM PUBLIC;
COMMENT ON FUNCTION attest.separate_tenants(regclass) IS
  'Lets everybody, the owner too, see and write only those rows of a table that belong to the session''s tenant.';

CREATE TABLE attest.lanes (
  name text CONSTRAINT lanes_pk PRIMARY KEY
    CONSTRAINT lanes_name_form CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  description text NOT NULL DEFAULT '',
  -- The bounds of the chunker.
  chunk_tokens integer NOT NULL CONSTRAINT lanes_chunk_tokens_enough CHECK (chunk_tokens >= 16),
  overlap_tokens integer NOT NULL
    CONSTRAINT lanes_overlap_fits CHECK (overlap_tokens >= 0 AND overlap_tokens * 2 < chunk_tokens)
);
ALTER TABLE attest.lanes ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone_reads ON attest.lanes FOR SELECT USING (true);
GRANT SELECT ON attest.lanes TO attest_writer, attest_reader;
COMMENT ON TABLE attest.lanes IS
  'Groups of documents chunked under the same rules; configuration, the same for every tenant.';
COMMENT ON COLUMN attest.lanes.name IS
  'Name in requests: 1 to 64 lower-case letters, digits, - and _, the first a letter or digit.';
COMMENT ON COLUMN attest.lanes.description IS 'What belongs in the lane, for people.';
COMMENT ON COLUMN attest.lanes.chunk_tokens IS
  'Most tokens of a chunk, title and headings included; smaller chunks hold no sentence.';
COMMENT ON COLUMN attest.lanes.overlap_tokens IS
  'Most tokens that two neighbours share; larger overlaps make no progress.';

INSERT INTO attest.lanes (name, description, chunk_tokens, overlap_tokens)
VALUES ('default', 'Documents without a lane of their own.', 200, 30);

CREATE TABLE attest.embedding_spaces (
  space_id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT embedding_spaces_pk PRIMARY KEY,
  model text NOT NULL CONSTRAINT embedding_spaces_model_named CHECK (model <> '' AND length(model) <= 200),
  dimensions integer NOT NULL CONSTRAINT embedding_spaces_dimensions_range CHECK (dimensions BETWEEN 1 AND 4000),
  element_type text NOT NULL CONSTRAINT embedding_spaces_element_known CHECK (element_type IN ('vector', 'halfvec')),
  index_kind text NOT NULL CONSTRAINT embedding_spaces_index_known CHECK (index_kind IN ('hnsw', 'exact')),
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
COMMENT ON TABLE attest.embedding_spaces IS
  'Vector spaces; the vectors of each lie in a table of its own, embeddings_N.';
COMMENT ON COLUMN attest.embedding_spaces.space_id IS 'The N of the table of its vectors.';
COMMENT ON COLUMN attest.embedding_spaces.model IS 'Name of the embedding model.';
COMMENT ON COLUMN attest.embedding_spaces.dimensions IS 'Length of the vectors.';
COMMENT ON COLUMN attest.embedding_spaces.element_type IS
  'Type of the vectors: halfvec above 2,000 dimensions, which is as far as vector can be indexed.';
COMMENT ON COLUMN attest.embedding_spaces.index_kind IS
  'hnsw: by an approximate index; exact: every vector is compared.';
COMMENT ON COLUMN attest.embedding_spaces.min_similarity IS
  'Cosine similarity below which a search drops a passage; it belongs to the model.';
COMMENT ON COLUMN attest.embedding_spaces.state IS 'Exactly one space is ACTIVE: the one that is searched.';
COMMENT ON COLUMN attest.embedding_spaces.created_at IS 'When the space was made.';

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
SELECT attest.separate_tenants('attest.documents');
GRANT SELECT ON attest.documents TO attest_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON attest.documents TO attest_writer;
COMMENT ON TABLE attest.documents IS
  'Documents as they are searched now: one row an address, whatever its version.';
COMMENT ON COLUMN attest.documents.tenant IS 'Whose document it is.';
COMMENT ON COLUMN attest.documents.document_id IS
  'HMAC over tenant, lane and address, 32 hex characters: the same for all versions.';
COMMENT ON COLUMN attest.documents.lane IS 'Lane that it was ingested into.';
COMMENT ON COLUMN attest.documents.source_url IS 'Address: http, https, file or relative.';
COMMENT ON COLUMN attest.documents.title IS 'Title that is shown and embedded with every chunk.';
COMMENT ON COLUMN attest.documents.media_type IS
  'What was sent: text/markdown, text/plain or application/pdf.';
COMMENT ON COLUMN attest.documents.version IS '1 at first, one more with each replacement.';
COMMENT ON COLUMN attest.documents.content_sha256 IS
  'SHA-256 of the bytes as they were sent; equal bytes are not read again.';
COMMENT ON COLUMN attest.documents.settings_sha256 IS
  'SHA-256 over what the chunks depend on beside the bytes: chunker, sizes of the lane, title, metadata.';
COMMENT ON COLUMN attest.documents.space_id IS 'Space that its chunks have vectors in.';
COMMENT ON COLUMN attest.documents.char_count IS 'Code points of the stored text, of all pages.';
COMMENT ON COLUMN attest.documents.page_count IS 'Pages; NULL for a document without pages.';
COMMENT ON COLUMN attest.documents.chunk_count IS 'Rows of it in rag_docs.';
COMMENT ON COLUMN attest.documents.metadata IS
  'Names and values of the request and of the front matter, all text.';
COMMENT ON COLUMN attest.documents.created_at IS 'When its first version was stored.';
COMMENT ON COLUMN attest.documents.updated_at IS 'When this version was stored.';

CREATE TABLE attest.document_texts (
  tenant text NOT NULL CONSTRAINT document_texts_tenant_named CHECK (tenant <> ''),
  document_id text NOT NULL,
  page integer NOT NULL CONSTRAINT document_texts_page_range CHECK (page >= 0),
  version integer NOT NULL CONSTRAINT document_texts_version_positive CHECK (version > 0),
  text text NOT NULL,
  CONSTRAINT document_texts_pk PRIMARY KEY (tenant, document_id, page),
  CONSTRAINT document_texts_document FOREIGN KEY (tenant, document_id)
    REFERENCES attest.documents (tenant, document_id) ON DELETE CASCADE
);
SELECT attest.separate_tenants('attest.document_texts');
GRANT SELECT ON attest.document_texts TO attest_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON attest.document_texts TO attest_writer;
COMMENT ON TABLE attest.document_texts IS
  'Stored text by page; offsets of passages and citations are offsets into it, in code points.';
COMMENT ON COLUMN attest.document_texts.tenant IS 'Whose text it is.';
COMMENT ON COLUMN attest.document_texts.document_id IS 'Document that it belongs to.';
COMMENT ON COLUMN attest.document_texts.page IS 'Number of the page from 1; 0 for a document without pages.';
COMMENT ON COLUMN attest.document_texts.version IS
  'Version of the document that brought this text; later versions left it as it is.';
COMMENT ON COLUMN attest.document_texts.text IS
  'Text in NFC with \n at line ends and no other control than tabs.';

-- migrate:down

DROP TABLE attest.document_texts;
DROP TABLE attest.documents;
DROP TABLE attest.embedding_spaces;
DROP TABLE attest.lanes;
DROP FUNCTION attest.separate_tenants(regclass);
COMMENT ON TABLE attest.schema_migrations IS NULL;
COMMENT ON COLUMN attest.schema_migrations.version IS NULL;
REVOKE SELECT ON attest.schema_migrations FROM attest_writer, attest_reader, attest_auth;
DROP POLICY everyone_reads ON attest.schema_migrations;
ALTER TABLE attest.schema_migrations DISABLE ROW LEVEL SECURITY;
