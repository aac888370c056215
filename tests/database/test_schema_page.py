from pathlib import Path

from scripts.pages import schema

PAGE = Path(__file__).resolve().parents[2] / "docs/schema.md"


async def test_the_schema_page_is_that_of_the_migrations() -> None:
    """Run: make docs."""
    assert await schema.page_of_new_database() == PAGE.read_text()
