"""The edge to Postgres: settings, the pool, the bootstrap and the migrations."""
