"""The local stack: its home, its secrets, its Postgres."""
