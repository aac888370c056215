from pathlib import Path

from scripts.pages import schema
from services.common.postgres.connect import connection
from services.common.postgres.settings import DATABASE
from services.ingest.store import PostgresDocumentStore
from tests.database.conftest import activate
from tests.database.samples import DIMENSIONS, MODEL
from tests.database.servers import Server

PAGE = Path(__file__).resolve().parents[2] / "docs/schema.md"

WITHOUT_COMMENT = """
SELECT c.relname AS what FROM pg_class c
WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
  AND obj_description(c.oid, 'pg_class') IS NULL
UNION ALL
SELECT format('%s.%s', c.relname, a.attname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'attest'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
  AND a.attnum > 0 AND NOT a.attisdropped AND col_description(c.oid, a.attnum) IS NULL
UNION ALL
SELECT p.proname FROM pg_proc p
WHERE p.pronamespace = 'attest'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL
"""


async def test_the_schema_page_is_that_of_the_migrations() -> None:
    """Run: make docs."""
    assert await schema.page_of_new_database() == PAGE.read_text()


async def test_every_table_column_and_function_says_what_it_is(
    server: Server, documents: PostgresDocumentStore
) -> None:
    await activate(server, documents, MODEL, DIMENSIONS)
    async with connection(server.superuser.in_database(DATABASE)) as superuser:
        silent = [row["what"] for row in await superuser.fetch(WITHOUT_COMMENT)]

    assert silent == []
