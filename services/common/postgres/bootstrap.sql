-- What only a superuser can do inside the database `attest`, run in one transaction; done again, it changes nothing.

CREATE SCHEMA IF NOT EXISTS attest AUTHORIZATION attest_owner;
CREATE SCHEMA IF NOT EXISTS ext;
CREATE EXTENSION IF NOT EXISTS vector SCHEMA ext;
ALTER EXTENSION vector SET SCHEMA ext;

DO $$
BEGIN
  -- Filtered searches need the iterative scans of 0.8.
  IF (SELECT string_to_array(extversion, '.')::int[] < '{0,8,0}' FROM pg_catalog.pg_extension WHERE extname = 'vector')
  THEN
    RAISE EXCEPTION 'Attest needs pgvector 0.8 or later; upgrade the extension'
      USING ERRCODE = 'feature_not_supported';
  END IF;
END
$$;

-- Nothing comes to a role by being anybody.
REVOKE ALL ON DATABASE attest FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE attest_owner REVOKE ALL ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE attest_owner REVOKE ALL ON TYPES FROM PUBLIC;

DO $$
DECLARE
  routine regprocedure;
BEGIN
  FOR routine IN
    SELECT p.oid
    FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace
      AND (p.proname LIKE 'lo\_%' OR p.proname IN ('loread', 'lowrite', 'pg_logical_emit_message'))
      AND pg_catalog.has_function_privilege('public', p.oid, 'EXECUTE')
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', routine);
  END LOOP;
END
$$;

GRANT CONNECT ON DATABASE attest TO attest_owner, attest_writer, attest_reader, attest_auth;
GRANT USAGE ON SCHEMA attest TO attest_writer, attest_reader, attest_auth;
GRANT USAGE ON SCHEMA ext TO attest_owner, attest_writer, attest_reader;
GRANT USAGE ON LANGUAGE plpgsql TO attest_owner;

ALTER DATABASE attest SET search_path = attest, ext;

ALTER ROLE attest_owner IN DATABASE attest SET search_path = attest, ext;
ALTER ROLE attest_owner IN DATABASE attest SET lock_timeout = '30s';

ALTER ROLE attest_writer IN DATABASE attest SET search_path = attest, ext;
ALTER ROLE attest_writer IN DATABASE attest SET statement_timeout = '60s';
ALTER ROLE attest_writer IN DATABASE attest SET lock_timeout = '5s';
ALTER ROLE attest_writer IN DATABASE attest SET idle_in_transaction_session_timeout = '60s';

ALTER ROLE attest_reader IN DATABASE attest SET search_path = attest, ext;
ALTER ROLE attest_reader IN DATABASE attest SET default_transaction_read_only = on;
-- One snapshot for all that a search looks at: a version swapped meanwhile is seen whole, before or after.
ALTER ROLE attest_reader IN DATABASE attest SET default_transaction_isolation = 'repeatable read';
ALTER ROLE attest_reader IN DATABASE attest SET statement_timeout = '10s';
ALTER ROLE attest_reader IN DATABASE attest SET lock_timeout = '2s';
ALTER ROLE attest_reader IN DATABASE attest SET idle_in_transaction_session_timeout = '15s';

ALTER ROLE attest_auth IN DATABASE attest SET search_path = attest;
ALTER ROLE attest_auth IN DATABASE attest SET default_transaction_read_only = on;
ALTER ROLE attest_auth IN DATABASE attest SET statement_timeout = '5s';
ALTER ROLE attest_auth IN DATABASE attest SET lock_timeout = '2s';
ALTER ROLE attest_auth IN DATABASE attest SET idle_in_transaction_session_timeout = '15s';
