-- Roles of the server, run by a superuser; done again, it changes nothing. Passwords are set apart from this.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['attest_owner', 'attest_writer', 'attest_reader', 'attest_auth'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role_name) THEN
      EXECUTE format('CREATE ROLE %I', role_name);
    END IF;
    IF EXISTS (
      SELECT FROM pg_catalog.pg_roles
      WHERE rolname = role_name
        AND (rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole OR rolreplication OR NOT rolcanlogin)
    ) THEN
      EXECUTE format(
        'ALTER ROLE %I LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION', role_name);
    END IF;
  END LOOP;
END
$$;
