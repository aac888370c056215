-- migrate:up

CREATE FUNCTION attest.create_embedding_space(
  model text,
  dimensions integer,
  index_kind text DEFAULT 'hnsw',
  min_similarity double precision DEFAULT 0.25
) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  space integer;
  table_name text;
  name text;
  meaning text;
  element text := CASE WHEN dimensions > 2000 THEN 'halfvec' ELSE 'vector' END;
  bytes integer := dimensions * CASE WHEN dimensions > 2000 THEN 2 ELSE 4 END;
BEGIN
  IF dimensions IS NULL OR dimensions < 1 OR dimensions > 4000 THEN
    RAISE EXCEPTION 'an embedding space has 1 to 4000 dimensions; ask the model for shorter vectors'
      USING ERRCODE = 'AT004';
  END IF;
  -- Asked for at every health check, so only the making takes the lock, and looks again under it.
  FOR attempt IN 1..2 LOOP
    SELECT s.space_id INTO space FROM attest.embedding_spaces s
    WHERE s.model = create_embedding_space.model AND s.dimensions = create_embedding_space.dimensions;
    IF FOUND THEN
      RETURN space;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('attest.embedding_spaces', 0));
  END LOOP;

  INSERT INTO attest.embedding_spaces (model, dimensions, element_type, index_kind, min_similarity, state)
  VALUES (
    model, dimensions, element, index_kind, min_similarity,
    CASE WHEN EXISTS (SELECT FROM attest.embedding_spaces WHERE state = 'ACTIVE') THEN 'INACTIVE' ELSE 'ACTIVE' END
  )
  RETURNING space_id INTO space;
  table_name := 'embeddings_' || space;

  EXECUTE format(
    'CREATE TABLE attest.%1$I (
       chunk_id bigint NOT NULL CONSTRAINT %2$I PRIMARY KEY
         CONSTRAINT %3$I REFERENCES attest.rag_docs (chunk_id) ON DELETE CASCADE,
       tenant text NOT NULL CONSTRAINT %4$I CHECK (tenant <> ''''),
       lane text NOT NULL,
       document_id text NOT NULL,
       embedding ext.%5$I(%6$s) NOT NULL,
       sentence_vectors bytea
     )',
    table_name, table_name || '_pk', table_name || '_chunk', table_name || '_tenant_named', element, dimensions);
  -- A vector that fits its page is read three times as fast there as from a side table.
  IF bytes <= 7000 THEN
    EXECUTE format('ALTER TABLE attest.%I ALTER embedding SET STORAGE PLAIN', table_name);
  ELSE
    EXECUTE format('ALTER TABLE attest.%I ALTER embedding SET STORAGE EXTERNAL', table_name);
  END IF;
  EXECUTE format('ALTER TABLE attest.%I ALTER sentence_vectors SET STORAGE EXTERNAL', table_name);
  EXECUTE format('CREATE INDEX %I ON attest.%I (tenant, lane)', table_name || '_by_lane', table_name);
  IF index_kind = 'hnsw' THEN
    EXECUTE format(
      'CREATE INDEX %I ON attest.%I USING hnsw (embedding ext.%I)',
      table_name || '_hnsw', table_name, element || '_cosine_ops');
  END IF;

  EXECUTE format('COMMENT ON TABLE attest.%I IS %L', table_name, 'Vectors of one embedding space.');
  FOR name, meaning IN VALUES
    ('chunk_id', 'Chunk that the vector stands for.'),
    ('tenant', 'Whose vector it is; on every row, as the lane is, so that a search joins nothing before it has found.'),
    ('lane', 'Lane of its document.'),
    ('document_id', 'Document of the chunk.'),
    ('embedding', 'Vector of what is embedded of the chunk, of length one.'),
    ('sentence_vectors', 'Vectors of the chunk''s sentences, packed; NULL where there are none.')
  LOOP
    EXECUTE format('COMMENT ON COLUMN attest.%I.%I IS %L', table_name, name, meaning);
  END LOOP;

  PERFORM attest.separate_tenants(format('attest.%I', table_name)::regclass);
  EXECUTE format('GRANT SELECT ON attest.%I TO attest_reader', table_name);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON attest.%I TO attest_writer', table_name);
  RETURN space;
END
$$;
REVOKE ALL ON FUNCTION attest.create_embedding_space(text, integer, text, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.create_embedding_space(text, integer, text, double precision) TO attest_writer;
COMMENT ON FUNCTION attest.create_embedding_space(text, integer, text, double precision) IS
  'Makes a space and its table, as the owner, for a writer who may make no table. The same model and dimensions again '
  'give the space that is there, unchanged. The first space becomes the active one. Raises AT004 for dimensions that '
  'cannot be indexed.';

-- migrate:down

DROP FUNCTION attest.create_embedding_space(text, integer, text, double precision);

DO $$
DECLARE
  space integer;
BEGIN
  FOR space IN SELECT space_id FROM attest.embedding_spaces LOOP
    EXECUTE format('DROP TABLE attest.%I', 'embeddings_' || space);
  END LOOP;
END
$$;
