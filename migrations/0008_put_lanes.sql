-- migrate:up

ALTER TABLE attest.lanes ADD COLUMN title_prefix boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN attest.lanes.title_prefix IS
  'Whether the title of a document is embedded with each of its chunks; headings always are.';

CREATE FUNCTION attest.put_lane(
  name text,
  description text,
  chunk_tokens integer,
  overlap_tokens integer,
  title_prefix boolean
) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  INSERT INTO attest.lanes AS l (name, description, chunk_tokens, overlap_tokens, title_prefix)
  VALUES (
    put_lane.name, put_lane.description, put_lane.chunk_tokens, put_lane.overlap_tokens, put_lane.title_prefix
  )
  ON CONFLICT ON CONSTRAINT lanes_pk DO UPDATE SET
    description = excluded.description, chunk_tokens = excluded.chunk_tokens,
    overlap_tokens = excluded.overlap_tokens, title_prefix = excluded.title_prefix
  WHERE (l.description, l.chunk_tokens, l.overlap_tokens, l.title_prefix)
    IS DISTINCT FROM (excluded.description, excluded.chunk_tokens, excluded.overlap_tokens, excluded.title_prefix);
END;
REVOKE ALL ON FUNCTION attest.put_lane(text, text, integer, integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.put_lane(text, text, integer, integer, boolean) TO attest_writer;
COMMENT ON FUNCTION attest.put_lane(text, text, integer, integer, boolean) IS
  'Makes a lane or changes one, as the owner, for a writer who can neither rename nor drop one. A lane that is as told '
  'already is not written.';

-- migrate:down

DROP FUNCTION attest.put_lane(text, text, integer, integer, boolean);
ALTER TABLE attest.lanes DROP COLUMN title_prefix;
