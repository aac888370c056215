"""The contract of the space store, kept by the fake and by Postgres alike, and what Postgres adds."""

import asyncpg
import pytest

from services.common.embedding.thresholds import Thresholds
from services.common.postgres.connect import connection
from services.common.postgres.pool import Pool
from services.common.postgres.settings import Role
from services.ingest.space_store import PostgresSpaceStore
from services.ingest.spaces import SpaceDescription, SpaceStore
from services.ingest.store import PostgresDocumentStore
from services.retrieval.store import PostgresPassageStore
from tests.database.conftest import THRESHOLDS, activate
from tests.database.servers import Server
from tests.fakes.library import FakeSpaceStore, Library

FIRST, SECOND = "first-of-the-spaces", "second-of-the-spaces"
NOBODYS = 999_999


@pytest.fixture(params=["fake", "postgres"])
async def spaces(
    request: pytest.FixtureRequest, server: Server, documents: PostgresDocumentStore, writer: Pool
) -> SpaceStore:
    if request.param == "postgres":
        await activate(server, documents, SECOND, 3)
        await activate(server, documents, FIRST, 3)
        return PostgresSpaceStore(writer)
    library = Library()
    library.activate(SECOND, 3)
    library.activate(FIRST, 3)
    return FakeSpaceStore(library)


async def of_model(spaces: SpaceStore, model: str) -> SpaceDescription:
    return next(space for space in await spaces.spaces(0, 1000) if space.model == model)


async def test_spaces_are_listed_by_id_behind_the_one_named(spaces: SpaceStore) -> None:
    everything = await spaces.spaces(0, 1000)
    ids = [space.space_id for space in everything]

    assert ids == sorted(ids)
    assert {FIRST, SECOND} <= {space.model for space in everything}
    assert await spaces.spaces(ids[0], 1) == everything[1:2]


async def test_a_space_is_described_whole(spaces: SpaceStore) -> None:
    space = await of_model(spaces, FIRST)

    assert (space.dimensions, space.element_type, space.index_kind, space.state) == (3, "vector", "hnsw", "ACTIVE")
    assert (await of_model(spaces, SECOND)).state == "INACTIVE"


async def test_thresholds_are_set_on_one_space_and_returned(spaces: SpaceStore) -> None:
    other = await of_model(spaces, SECOND)
    space = await of_model(spaces, FIRST)

    changed = await spaces.set_thresholds(space.space_id, Thresholds(0.11, 0.22))

    assert changed == await of_model(spaces, FIRST)
    assert changed is not None
    assert (changed.min_similarity, changed.gate_start) == (0.11, 0.22)
    assert await of_model(spaces, SECOND) == other


async def test_the_thresholds_of_a_space_that_is_not_there_are_not_set(spaces: SpaceStore) -> None:
    assert await spaces.set_thresholds(NOBODYS, THRESHOLDS) is None


async def test_a_restart_leaves_thresholds_that_somebody_set(
    server: Server, documents: PostgresDocumentStore, passages: PostgresPassageStore, writer: Pool
) -> None:
    space_id = await activate(server, documents, "tuned-by-somebody", 3)
    assert (await passages.active_space()).gate_start == THRESHOLDS.gate_start
    await PostgresSpaceStore(writer).set_thresholds(space_id, Thresholds(-1.0, 1.0))

    assert await documents.ensure_space("tuned-by-somebody", 3, THRESHOLDS) == space_id

    active = await passages.active_space()
    assert (active.min_similarity, active.gate_start) == (-1.0, 1.0)


async def test_a_space_from_before_thresholds_gets_those_of_its_model(
    server: Server, documents: PostgresDocumentStore, passages: PostgresPassageStore
) -> None:
    space_id = await activate(server, documents, "from-before", 3)
    async with connection(server.role(Role.OWNER)) as owner:
        await owner.execute("UPDATE attest.embedding_spaces SET gate_start = NULL WHERE space_id = $1", space_id)

    await documents.ensure_space("from-before", 3, Thresholds(0.3, 0.5))

    active = await passages.active_space()
    assert (active.min_similarity, active.gate_start) == (0.3, 0.5)


async def test_a_writer_can_change_nothing_else_of_a_space(
    server: Server, documents: PostgresDocumentStore, writer: Pool
) -> None:
    space_id = await activate(server, documents, FIRST, 3)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await writer.fetch("UPDATE attest.embedding_spaces SET gate_start = 0 WHERE space_id = $1", space_id)
