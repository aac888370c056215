"""`match_documents` as the users of pgvector call it, word for word."""

import asyncpg
import pytest

from services.common.postgres.connect import connection
from services.common.postgres.settings import Role
from services.ingest.store import PostgresDocumentStore
from tests.database.conftest import activate
from tests.database.samples import sample, vector
from tests.database.servers import Server

TENANT = "seed-calls"
SET_TENANT = f"SET attest.tenant = '{TENANT}'"
POSITIONAL = "SELECT * FROM match_documents('[…]'::vector(1536), 0.5, 5)"
NAMED = "SELECT * FROM match_documents(query_embedding => '[…]'::vector(1536), match_count => 3)"


def written(call: str, dimensions: int) -> str:
    """Put numbers into the brackets of a call."""
    numbers = ",".join(["1", *["0"] * (dimensions - 1)])
    return call.replace("[…]", f"[{numbers}]").replace("1536", str(dimensions))


@pytest.fixture(params=[384, 1536])
async def dimensions(request: pytest.FixtureRequest, server: Server, documents: PostgresDocumentStore) -> int:
    size: int = request.param
    space_id = await activate(server, documents, f"model-{size}", size)
    directions = [vector(1, step / 3, dimensions=size) for step in range(8)]
    texts = [f"text {step}" for step in range(8)]
    made = sample(TENANT, texts, directions, name="docs/a b.md", source_url="https://example.org/docs/guide.md")
    await documents.replace(made.document, space_id, made.chunks, made.vectors)
    return size


async def test_the_positional_call_gives_the_rows_above_the_threshold(server: Server, dimensions: int) -> None:
    async with connection(server.role(Role.READER)) as reader:
        await reader.execute(SET_TENANT)
        rows = await reader.fetch(written(POSITIONAL, dimensions))

    assert list(rows[0].keys()) == ["id", "source", "source_url", "content", "similarity"]
    assert [row["content"] for row in rows] == [f"text {step}" for step in range(5)]
    assert rows[0]["source"] == "guide.md"
    assert rows[0]["source_url"] == "https://example.org/docs/guide.md"
    assert rows[0]["similarity"] == pytest.approx(1.0)
    assert all(row["similarity"] >= 0.5 for row in rows)


async def test_the_named_call_takes_the_other_arguments_from_the_defaults(server: Server, dimensions: int) -> None:
    async with connection(server.role(Role.READER)) as reader:
        await reader.execute(SET_TENANT)
        rows = await reader.fetch(written(NAMED, dimensions))

    assert [row["content"] for row in rows] == ["text 0", "text 1", "text 2"]


async def test_without_a_tenant_no_row_comes(server: Server, dimensions: int) -> None:
    async with connection(server.role(Role.READER)) as reader:
        rows = await reader.fetch(written(POSITIONAL, dimensions).replace("0.5", "-1"))

    assert rows == []


async def test_wrong_dimensions_are_a_clear_error(server: Server, dimensions: int) -> None:
    async with connection(server.role(Role.READER)) as reader:
        with pytest.raises(
            asyncpg.PostgresError, match=f"the query has 3 dimensions, the active embedding space has {dimensions}"
        ) as caught:
            await reader.fetch("SELECT * FROM match_documents('[1,2,3]'::vector(3), 0.5, 5)")

    assert caught.value.sqlstate == "AT003"
