"""What a caller hears whose time was not enough."""

import asyncio

import pytest

from services.common.errors import DeadlineExceededError, Reason
from services.ingest.extent import Extent


def interrupted(extent: Extent, error: BaseException | None = None) -> None:
    with extent.told_at_the_deadline():
        raise error or asyncio.CancelledError


async def test_the_deadline_tells_how_much_is_done_and_that_it_is_kept() -> None:
    extent = Extent(lambda: 0.0)

    await extent.reached(32, 90)
    with pytest.raises(DeadlineExceededError, match=r"32 of 90 chunks\. Send it again") as caught:
        interrupted(extent)
    assert caught.value.metadata == {"embeddedChunks": "32", "totalChunks": "90"}


async def test_a_document_that_was_not_even_read_is_not_said_to_be_kept() -> None:
    with pytest.raises(DeadlineExceededError, match="not enough to read the document"):
        interrupted(Extent(lambda: 0.0))


async def test_the_deadline_of_the_database_is_told_in_the_same_way() -> None:
    extent = Extent(lambda: -0.1)
    await extent.reached(1, 2)

    with pytest.raises(DeadlineExceededError, match="1 of 2 chunks"):
        interrupted(extent, DeadlineExceededError(Reason.DEADLINE_EXCEEDED, "too late"))


async def test_a_call_that_was_given_up_before_its_deadline_is_only_cancelled() -> None:
    with pytest.raises(asyncio.CancelledError):
        interrupted(Extent(lambda: 5.0))
