"""Lanes as a writer puts them: made, changed, left alone."""

from dataclasses import astuple, replace

import asyncpg
import pytest

from services.common.errors import NotFoundError
from services.common.postgres.pool import Pool
from services.ingest.lane_store import PUT_LANE, PostgresLaneStore
from services.ingest.model import Lane
from services.ingest.store import PostgresDocumentStore

HR = Lane("hr-of-the-tests", "Of a test.", 100, 10, False)
WRITTEN = "SELECT n_tup_ins + n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'lanes'"


async def test_a_lane_is_made_and_changed(documents: PostgresDocumentStore, writer: Pool) -> None:
    lanes = PostgresLaneStore(writer)
    with pytest.raises(NotFoundError):
        await documents.lane(HR.name)

    await lanes.put([HR])
    assert await documents.lane(HR.name) == HR

    changed = Lane(HR.name, "Another.", 120, 0, True)
    await lanes.put([changed])
    assert await documents.lane(HR.name) == changed


async def test_a_lane_that_is_as_told_is_not_written(writer: Pool) -> None:
    await PostgresLaneStore(writer).put([HR])
    async with writer.tenant("any") as connection:
        counts = []
        for lane in (HR, HR, replace(HR, title_prefix=True)):
            await connection.fetch(PUT_LANE, *astuple(lane))
            counts.append(await connection.fetchval(WRITTEN))

    assert [count - counts[0] for count in counts] == [0, 0, 1]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attest.lanes SET chunk_tokens = 50",
        "DELETE FROM attest.lanes",
        "INSERT INTO attest.lanes (name, chunk_tokens, overlap_tokens) VALUES ('x', 100, 10)",
    ],
)
async def test_a_writer_has_no_other_way(writer: Pool, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await writer.fetch(statement)
