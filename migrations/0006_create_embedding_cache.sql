-- migrate:up

-- Unlogged: whatever is lost in a crash is embedded again.
CREATE UNLOGGED TABLE attest.embedding_cache (
  tenant text NOT NULL CONSTRAINT embedding_cache_tenant_named CHECK (tenant <> ''),
  -- Not a reference: the vectors of a new document come before it.
  document_id text NOT NULL,
  space_id integer NOT NULL
    CONSTRAINT embedding_cache_space_known REFERENCES attest.embedding_spaces (space_id) ON DELETE CASCADE,
  passage_id text NOT NULL CONSTRAINT embedding_cache_passage_id_form CHECK (passage_id ~ '^[0-9a-f]{32}$'),
  embedding ext.vector NOT NULL,
  sentence_vectors bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT embedding_cache_pk PRIMARY KEY (tenant, document_id, space_id, passage_id)
);
CREATE INDEX embedding_cache_by_age ON attest.embedding_cache (created_at);
SELECT attest.separate_tenants('attest.embedding_cache');
GRANT SELECT, INSERT, DELETE ON attest.embedding_cache TO attest_writer;
COMMENT ON TABLE attest.embedding_cache IS
  'Vectors of ingests that have not come to their commit, so that one that was cut off goes on where it was.';
COMMENT ON COLUMN attest.embedding_cache.tenant IS 'Whose vector it is.';
COMMENT ON COLUMN attest.embedding_cache.document_id IS
  'Document that is being ingested; it need not be there yet.';
COMMENT ON COLUMN attest.embedding_cache.space_id IS 'Space that the vector belongs to.';
COMMENT ON COLUMN attest.embedding_cache.passage_id IS 'Chunk that it stands for.';
COMMENT ON COLUMN attest.embedding_cache.embedding IS 'The vector, of any dimensions, since spaces differ.';
COMMENT ON COLUMN attest.embedding_cache.sentence_vectors IS
  'Vectors of the chunk''s sentences, packed; NULL where there are none.';
COMMENT ON COLUMN attest.embedding_cache.created_at IS 'When it was computed; it is kept for a day.';

CREATE FUNCTION attest.empty_embedding_cache() RETURNS trigger
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  DELETE FROM attest.embedding_cache c WHERE c.tenant = OLD.tenant AND c.document_id = OLD.document_id;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION attest.empty_embedding_cache() IS
  'Trigger: takes the cache of a deleted document, so that whoever deletes need not think of it.';

CREATE TRIGGER documents_take_their_cache
AFTER DELETE ON attest.documents
FOR EACH ROW EXECUTE FUNCTION attest.empty_embedding_cache();

-- The owner may see and delete what is older than a day, of every tenant, so that nothing stays of those who never
-- come again; with the right of the owner and this function a writer can do no more than that either.
CREATE POLICY owner_sweeps ON attest.embedding_cache TO attest_owner
  USING (created_at < now() - interval '1 day') WITH CHECK (false);

CREATE FUNCTION attest.sweep_embedding_cache() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  DELETE FROM attest.embedding_cache WHERE created_at < now() - interval '1 day';
END;
REVOKE ALL ON FUNCTION attest.sweep_embedding_cache() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.sweep_embedding_cache() TO attest_writer;
COMMENT ON FUNCTION attest.sweep_embedding_cache() IS
  'Deletes what is older than a day, of every tenant, with the rights of the owner.';

-- migrate:down

DROP FUNCTION attest.sweep_embedding_cache();
DROP TRIGGER documents_take_their_cache ON attest.documents;
DROP FUNCTION attest.empty_embedding_cache();
DROP TABLE attest.embedding_cache;
