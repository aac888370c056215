"""A real Postgres, made by the product, migrated once for all tests of this folder."""

import uuid
from collections.abc import AsyncIterator

import pytest

from services.common.embedding.thresholds import Thresholds
from services.common.postgres.connect import connection
from services.common.postgres.pool import Pool, PoolLimits, open_pool
from services.common.postgres.settings import Role
from services.ingest.store import PostgresDocumentStore
from services.retrieval.store import PostgresPassageStore
from tests.database.servers import Server, new_server

THRESHOLDS = Thresholds(0.25, 0.4)
"""What spaces of tests begin with."""

DEACTIVATE_OTHERS = """
UPDATE attest.embedding_spaces SET state = 'INACTIVE' WHERE state = 'ACTIVE' AND space_id <> $1
"""

ACTIVATE = "UPDATE attest.embedding_spaces SET state = 'ACTIVE' WHERE space_id = $1"


def plenty() -> float:
    """Tell a pool that the call has a minute left."""
    return 60.0


@pytest.fixture(scope="session")
async def server() -> AsyncIterator[Server]:
    """Run a migrated server for the session."""
    async with new_server() as made, made.running():
        await made.migrate()
        yield made


@pytest.fixture(scope="session")
async def writer(server: Server) -> AsyncIterator[Pool]:
    """Open a pool of the writer."""
    limits = PoolLimits(connections=4, command_s=60)
    async with open_pool(server.role(Role.WRITER), limits, plenty) as pool:
        yield pool


@pytest.fixture(scope="session")
async def reader(server: Server) -> AsyncIterator[Pool]:
    """Open a pool of the reader."""
    async with open_pool(server.role(Role.READER), PoolLimits(connections=4), plenty) as pool:
        yield pool


@pytest.fixture(scope="session")
def documents(writer: Pool) -> PostgresDocumentStore:
    return PostgresDocumentStore(writer)


@pytest.fixture(scope="session")
def passages(reader: Pool) -> PostgresPassageStore:
    return PostgresPassageStore(reader)


@pytest.fixture
def tenant() -> str:
    """Name a tenant that no other test knows."""
    return f"tenant-{uuid.uuid4().hex[:12]}"


async def activate(server: Server, documents: PostgresDocumentStore, model: str, dimensions: int) -> int:
    """Make a space, unless it is there, and make it the active one."""
    space_id = await documents.ensure_space(model, dimensions, THRESHOLDS)
    await activate_space(server, space_id)
    return space_id


async def activate_space(server: Server, space_id: int) -> None:
    """Make a space the active one."""
    async with connection(server.role(Role.OWNER)) as owner, owner.transaction():
        await owner.execute(DEACTIVATE_OTHERS, space_id)
        await owner.execute(ACTIVATE, space_id)
