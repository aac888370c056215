-- migrate:up

CREATE TABLE attest.api_keys (
  key_sha256 bytea CONSTRAINT api_keys_pk PRIMARY KEY
    CONSTRAINT api_keys_hashed CHECK (octet_length(key_sha256) = 32),
  tenant text NOT NULL CONSTRAINT api_keys_tenant_named CHECK (tenant <> ''),
  scopes text[] NOT NULL
    CONSTRAINT api_keys_scopes_known CHECK (scopes <@ ARRAY['ask', 'ingest', 'admin']),
  label text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
ALTER TABLE attest.api_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY auth_reads ON attest.api_keys FOR SELECT TO attest_auth USING (true);
GRANT SELECT ON attest.api_keys TO attest_auth;
COMMENT ON TABLE attest.api_keys IS 'Keys of callers, as hashes: only the role of auth sees them.';
COMMENT ON COLUMN attest.api_keys.key_sha256 IS 'SHA-256 of a key of 256 random bits.';
COMMENT ON COLUMN attest.api_keys.tenant IS 'Tenant that the key stands for.';
COMMENT ON COLUMN attest.api_keys.scopes IS 'What its holder may do: ask, ingest, admin.';
COMMENT ON COLUMN attest.api_keys.label IS 'What the key is for, for people.';
COMMENT ON COLUMN attest.api_keys.created_at IS 'When it was made.';
COMMENT ON COLUMN attest.api_keys.revoked_at IS 'When it was taken back; NULL while it holds.';

-- migrate:down

DROP TABLE attest.api_keys;
