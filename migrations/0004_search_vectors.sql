-- migrate:up

-- The statement over the vectors is planned at each call: a plan made for a small tenant is slow for a large one.
-- It returns arrays and no rows: in a join the planner may never ask for the rows, and the checks would not be made.
CREATE FUNCTION attest.nearest_chunks(
  space integer,
  query ext.vector,
  lanes text[],
  top_k integer,
  OUT ids bigint[],
  OUT distances double precision[]
)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET search_path = pg_catalog, ext, pg_temp
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on
AS $$
DECLARE
  exact_up_to constant bigint := 2000;
  known attest.embedding_spaces;
  everywhere constant boolean := coalesce(cardinality(lanes), 0) = 0;
  available bigint;
  statement text;
BEGIN
  IF top_k IS NULL OR top_k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'top_k must be from 1 to 1000' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT * INTO known FROM attest.embedding_spaces s WHERE s.space_id = space AND s.state = 'ACTIVE';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the embedding space is not the active one' USING ERRCODE = 'AT002';
  END IF;
  IF ext.vector_dims(query) <> known.dimensions THEN
    RAISE EXCEPTION 'the query has % dimensions, the active embedding space has %',
      ext.vector_dims(query), known.dimensions USING ERRCODE = 'AT003';
  END IF;
  IF NOT everywhere
    AND EXISTS (SELECT FROM unnest(lanes) l(name) LEFT JOIN attest.lanes k USING (name) WHERE k.name IS NULL)
  THEN
    RAISE EXCEPTION 'a lane is not known' USING ERRCODE = 'AT001';
  END IF;

  SELECT coalesce(sum(c.chunks), 0) INTO available FROM attest.chunk_counts c
  WHERE c.tenant = current_setting('attest.tenant', true) AND (everywhere OR c.lane = ANY (lanes));
  IF available = 0 THEN
    RETURN;
  END IF;

  -- Adding zero keeps the planner from the index. A zero vector has the distance NaN to everything and is near nothing.
  statement := format(
    'SELECT array_agg(n.chunk_id), array_agg(n.distance) FROM (
       SELECT e.chunk_id, (e.embedding OPERATOR(ext.<=>) $1::ext.%1$I(%2$s))%%s AS distance
       FROM attest.%3$I e
       WHERE e.tenant = current_setting(''attest.tenant'', true) %4$s
       ORDER BY 2%%s LIMIT $3
     ) n WHERE n.distance <> ''NaN''',
    known.element_type, known.dimensions, 'embeddings_' || space,
    CASE WHEN everywhere THEN '' ELSE 'AND e.lane = ANY ($2)' END);

  IF available > exact_up_to AND known.index_kind = 'hnsw' THEN
    PERFORM set_config('hnsw.iterative_scan', 'strict_order', true);
    PERFORM set_config('hnsw.ef_search', greatest(100, top_k)::text, true);
    EXECUTE format(statement, '', '') INTO ids, distances USING query, lanes, top_k;
  END IF;
  IF coalesce(cardinality(ids), 0) < least(top_k, available) THEN
    EXECUTE format(statement, ' + 0.0', ', 1') INTO ids, distances USING query, lanes, top_k;
  END IF;
END
$$;
REVOKE ALL ON FUNCTION attest.nearest_chunks(integer, ext.vector, text[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.nearest_chunks(integer, ext.vector, text[], integer) TO attest_reader;
COMMENT ON FUNCTION attest.nearest_chunks(integer, ext.vector, text[], integer) IS
  'The chunks of the tenant that are closest to a vector, by cosine distance, at most top_k of them and unordered. Few '
  'rows are all compared; of many, the index is asked, and all are compared when it came back short, since a shared '
  'index can run out of patience before it meets enough rows of a small tenant. Raises AT001 for an unknown lane, '
  'AT002 for a space that is not active, AT003 for a vector of other dimensions.';

-- The join always goes by the keys, so one plan serves every tenant and is not made anew at each call.
CREATE FUNCTION attest.search_vector(
  tenant text,
  space integer,
  query ext.vector,
  lanes text[],
  top_k integer,
  min_similarity double precision
) RETURNS TABLE (
  passage_id text,
  document_id text,
  lane text,
  title text,
  source_url text,
  version integer,
  page integer,
  heading_path text[],
  char_start integer,
  char_end integer,
  content text,
  similarity double precision
)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, ext, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  near record;
BEGIN
  PERFORM set_config('attest.tenant', coalesce(search_vector.tenant, ''), true);
  near := attest.nearest_chunks(space, query, lanes, top_k);
  RETURN QUERY
  SELECT c.passage_id, c.document_id, c.lane, d.title, d.source_url, d.version, c.page, c.heading_path,
    c.char_start, c.char_end, c.content, 1 - n.distance
  FROM unnest(near.ids, near.distances) AS n(chunk_id, distance)
  -- OFFSET 0 keeps the order: chunk by chunk through its key. Left to the planner, a guess that the tenant is small
  -- reads all of its chunks.
  CROSS JOIN LATERAL (SELECT * FROM attest.rag_docs r WHERE r.chunk_id = n.chunk_id OFFSET 0) c
  CROSS JOIN LATERAL (
    SELECT * FROM attest.documents o WHERE o.tenant = c.tenant AND o.document_id = c.document_id OFFSET 0
  ) d
  WHERE 1 - n.distance >= search_vector.min_similarity
  ORDER BY n.distance, c.passage_id;
END
$$;
REVOKE ALL ON FUNCTION attest.search_vector(text, integer, ext.vector, text[], integer, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.search_vector(text, integer, ext.vector, text[], integer, double precision)
  TO attest_reader;
COMMENT ON FUNCTION attest.search_vector(text, integer, ext.vector, text[], integer, double precision) IS
  'The vector leg of a search in one call: enters the tenant until the end of the transaction, finds, cuts, joins.';

CREATE FUNCTION attest.match_documents(
  query_embedding ext.vector,
  match_threshold double precision DEFAULT 0.5,
  match_count integer DEFAULT 5
) RETURNS TABLE (id text, source text, source_url text, content text, similarity double precision)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, ext, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  active integer;
  near record;
BEGIN
  SELECT s.space_id INTO active FROM attest.embedding_spaces s WHERE s.state = 'ACTIVE';
  near := attest.nearest_chunks(active, query_embedding, NULL, match_count);
  RETURN QUERY
  SELECT c.passage_id, coalesce(nullif(d.title, ''), regexp_replace(d.source_url, '^.*/(?=[^/])', '')), d.source_url,
    c.content, 1 - n.distance
  FROM unnest(near.ids, near.distances) AS n(chunk_id, distance)
  CROSS JOIN LATERAL (SELECT * FROM attest.rag_docs r WHERE r.chunk_id = n.chunk_id OFFSET 0) c
  CROSS JOIN LATERAL (
    SELECT * FROM attest.documents o WHERE o.tenant = c.tenant AND o.document_id = c.document_id OFFSET 0
  ) d
  WHERE 1 - n.distance >= match_threshold
  ORDER BY n.distance, c.passage_id;
END
$$;
REVOKE ALL ON FUNCTION attest.match_documents(ext.vector, double precision, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.match_documents(ext.vector, double precision, integer) TO attest_reader;
COMMENT ON FUNCTION attest.match_documents(ext.vector, double precision, integer) IS
  'The call that pgvector''s users know, over the active space and the tenant of the setting attest.tenant.';

-- migrate:down

DROP FUNCTION attest.match_documents(ext.vector, double precision, integer);
DROP FUNCTION attest.search_vector(text, integer, ext.vector, text[], integer, double precision);
DROP FUNCTION attest.nearest_chunks(integer, ext.vector, text[], integer);
