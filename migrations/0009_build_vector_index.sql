-- migrate:up

-- As before but for the index: rows go in many times faster without it, and few rows need none.
CREATE OR REPLACE FUNCTION attest.create_embedding_space(
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

COMMENT ON COLUMN attest.embedding_spaces.index_kind IS
  'hnsw: by an approximate index, once there are rows enough for one; exact: every vector is compared.';

CREATE FUNCTION attest.vector_index_is_due(space integer, least_rows bigint DEFAULT 2000) RETURNS boolean
LANGUAGE sql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT s.index_kind = 'hnsw'
    AND to_regclass(format('attest.%I', 'embeddings_' || s.space_id || '_hnsw')) IS NULL
    -- Searches of fewer rows than the default compare them all, index or not.
    AND pg_relation_size(to_regclass(format('attest.%I', 'embeddings_' || s.space_id)))
      > vector_index_is_due.least_rows * s.dimensions * CASE s.element_type WHEN 'halfvec' THEN 2 ELSE 4 END
  FROM attest.embedding_spaces s WHERE s.space_id = vector_index_is_due.space;
END;
REVOKE ALL ON FUNCTION attest.vector_index_is_due(integer, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.vector_index_is_due(integer, bigint) TO attest_writer;
COMMENT ON FUNCTION attest.vector_index_is_due(integer, bigint) IS
  'Whether a space has rows enough for the index that it does not have yet; NULL where there is no such space.';

CREATE FUNCTION attest.build_vector_index(space integer, least_rows bigint DEFAULT 2000) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' SET maintenance_work_mem = '256MB'
AS $$
DECLARE
  element text;
  table_name constant text := 'embeddings_' || space;
BEGIN
  -- One at a time builds, whoever is asked; the others find it done or try later.
  IF NOT pg_try_advisory_xact_lock(hashtextextended('attest.vector_index', space)) THEN
    RETURN false;
  END IF;
  IF attest.vector_index_is_due(space, least_rows) IS NOT TRUE THEN
    RETURN false;
  END IF;
  SELECT s.element_type INTO element FROM attest.embedding_spaces s WHERE s.space_id = space;
  EXECUTE format(
    'CREATE INDEX %I ON attest.%I USING hnsw (embedding ext.%I)',
    table_name || '_hnsw', table_name, element || '_cosine_ops');
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION attest.build_vector_index(integer, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.build_vector_index(integer, bigint) TO attest_writer;
COMMENT ON FUNCTION attest.build_vector_index(integer, bigint) IS
  'Builds the index of a space that is due, as the owner, and tells whether it did. Searches go on meanwhile, writes '
  'to the space wait; it raises lock_not_available where writes under way do not end within a second.';

-- migrate:down

DROP FUNCTION attest.build_vector_index(integer, bigint);
DROP FUNCTION attest.vector_index_is_due(integer, bigint);
COMMENT ON COLUMN attest.embedding_spaces.index_kind IS
  'hnsw: by an approximate index; exact: every vector is compared.';
DO $$
DECLARE
  space record;
BEGIN
  FOR space IN SELECT space_id, element_type FROM attest.embedding_spaces WHERE index_kind = 'hnsw' LOOP
    EXECUTE format(
      'CREATE INDEX IF NOT EXISTS %I ON attest.%I USING hnsw (embedding ext.%I)',
      'embeddings_' || space.space_id || '_hnsw', 'embeddings_' || space.space_id, space.element_type || '_cosine_ops');
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION attest.create_embedding_space(
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
