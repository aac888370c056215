-- migrate:up

CREATE TABLE attest.rag_docs (
  chunk_id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT rag_docs_pk PRIMARY KEY,
  ordinal integer NOT NULL CONSTRAINT rag_docs_ordinal_range CHECK (ordinal >= 0),
  page integer CONSTRAINT rag_docs_page_range CHECK (page > 0),
  char_start integer NOT NULL,
  char_end integer NOT NULL,
  token_count integer NOT NULL CONSTRAINT rag_docs_token_count_range CHECK (token_count >= 0),
  tenant text NOT NULL CONSTRAINT rag_docs_tenant_named CHECK (tenant <> ''),
  lane text NOT NULL,
  document_id text NOT NULL,
  passage_id text NOT NULL CONSTRAINT rag_docs_passage_id_form CHECK (passage_id ~ '^[0-9a-f]{32}$'),
  content text NOT NULL,
  heading_path text[] NOT NULL DEFAULT '{}',
  CONSTRAINT rag_docs_char_range CHECK (char_start >= 0 AND char_end > char_start),
  CONSTRAINT rag_docs_passage_once UNIQUE (tenant, passage_id),
  CONSTRAINT rag_docs_document FOREIGN KEY (tenant, document_id)
    REFERENCES attest.documents (tenant, document_id) ON DELETE CASCADE
);
CREATE INDEX rag_docs_by_place ON attest.rag_docs (tenant, document_id, ordinal);
SELECT attest.separate_tenants('attest.rag_docs');
GRANT SELECT ON attest.rag_docs TO attest_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON attest.rag_docs TO attest_writer;
COMMENT ON TABLE attest.rag_docs IS
  'Passages: the citable chunks of documents. What is embedded or indexed of them lies in tables apart, joined by '
  'chunk_id, so that a change here rewrites no vector.';
COMMENT ON COLUMN attest.rag_docs.chunk_id IS 'Compact key inside the database; never shown.';
COMMENT ON COLUMN attest.rag_docs.ordinal IS 'Place in the document, from 0.';
COMMENT ON COLUMN attest.rag_docs.page IS 'Page that it stands on; NULL for a document without pages.';
COMMENT ON COLUMN attest.rag_docs.char_start IS
  'First code point in the stored text, of the page where there are pages: text[char_start:char_end] = content.';
COMMENT ON COLUMN attest.rag_docs.char_end IS 'Code point after the last.';
COMMENT ON COLUMN attest.rag_docs.token_count IS
  'Tokens of what was embedded: title, headings and search text.';
COMMENT ON COLUMN attest.rag_docs.tenant IS 'Whose passage it is.';
COMMENT ON COLUMN attest.rag_docs.lane IS 'Lane of its document.';
COMMENT ON COLUMN attest.rag_docs.document_id IS 'Document that it belongs to.';
COMMENT ON COLUMN attest.rag_docs.passage_id IS
  'HMAC over tenant, lane, address, content and repeat number: the same passage keeps its id through versions.';
COMMENT ON COLUMN attest.rag_docs.content IS 'The text that is cited.';
COMMENT ON COLUMN attest.rag_docs.heading_path IS 'Headings that it stands under, outermost first.';

CREATE TABLE attest.chunk_counts (
  tenant text NOT NULL CONSTRAINT chunk_counts_tenant_named CHECK (tenant <> ''),
  lane text NOT NULL CONSTRAINT chunk_counts_lane_known REFERENCES attest.lanes (name),
  chunks bigint NOT NULL CONSTRAINT chunk_counts_range CHECK (chunks >= 0),
  CONSTRAINT chunk_counts_pk PRIMARY KEY (tenant, lane)
);
SELECT attest.separate_tenants('attest.chunk_counts');
GRANT SELECT ON attest.chunk_counts TO attest_reader;
GRANT SELECT, INSERT, UPDATE ON attest.chunk_counts TO attest_writer;
COMMENT ON TABLE attest.chunk_counts IS
  'How much there is to search, so that a search chooses between all rows and the index without counting.';
COMMENT ON COLUMN attest.chunk_counts.tenant IS 'Whose chunks are counted.';
COMMENT ON COLUMN attest.chunk_counts.lane IS 'Lane that they are in.';
COMMENT ON COLUMN attest.chunk_counts.chunks IS 'How many there are, as of the last commit.';

CREATE FUNCTION attest.count_chunks() RETURNS trigger
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  place record;
  difference bigint := 0;
BEGIN
  place := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  IF TG_OP <> 'DELETE' THEN
    difference := difference + NEW.chunk_count;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    difference := difference - OLD.chunk_count;
  END IF;
  IF difference <> 0 THEN
    -- The first row must pass the CHECK even when the difference is negative, so it is made with 0.
    INSERT INTO attest.chunk_counts (tenant, lane, chunks) VALUES (place.tenant, place.lane, 0)
    ON CONFLICT (tenant, lane) DO NOTHING;
    UPDATE attest.chunk_counts SET chunks = chunks + difference
    WHERE tenant = place.tenant AND lane = place.lane;
  END IF;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION attest.count_chunks() IS 'Trigger: keeps chunk_counts in step with documents.';

-- Deferred to the commit: the counter's row is shared by all writers of a tenant and is locked for a moment only.
CREATE CONSTRAINT TRIGGER documents_are_counted
AFTER INSERT OR DELETE OR UPDATE OF chunk_count ON attest.documents
DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION attest.count_chunks();

-- migrate:down

DROP TRIGGER documents_are_counted ON attest.documents;
DROP FUNCTION attest.count_chunks();
DROP TABLE attest.chunk_counts;
DROP TABLE attest.rag_docs;
