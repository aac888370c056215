-- migrate:up

ALTER TABLE attest.embedding_spaces ADD COLUMN gate_start double precision
  CONSTRAINT embedding_spaces_gate_start_range CHECK (gate_start BETWEEN -1 AND 1);
COMMENT ON COLUMN attest.embedding_spaces.gate_start IS
  'Cosine similarity of the closest passage below which nothing is answered; NULL until thresholds were set.';

CREATE FUNCTION attest.set_thresholds(
  space integer,
  min_similarity double precision,
  gate_start double precision,
  only_unset boolean DEFAULT false
) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH done AS (
    UPDATE attest.embedding_spaces s
    SET min_similarity = set_thresholds.min_similarity, gate_start = set_thresholds.gate_start
    WHERE s.space_id = set_thresholds.space AND (NOT set_thresholds.only_unset OR s.gate_start IS NULL)
    RETURNING 1
  )
  SELECT EXISTS (SELECT FROM done);
END;
REVOKE ALL ON FUNCTION attest.set_thresholds(integer, double precision, double precision, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION attest.set_thresholds(integer, double precision, double precision, boolean) TO attest_writer;
COMMENT ON FUNCTION attest.set_thresholds(integer, double precision, double precision, boolean) IS
  'Sets both thresholds of a space, as the owner, for a writer who may not touch the rest of it; with only_unset those '
  'alone that nobody set before. Tells whether a space was changed.';

-- migrate:down

DROP FUNCTION attest.set_thresholds(integer, double precision, double precision, boolean);
ALTER TABLE attest.embedding_spaces DROP COLUMN gate_start;
