"""What a caller hears whose time was not enough."""

import asyncio

import pytest

from services.common.errors import DeadlineExceededError, Reason
from services.ingest.extent import Extent


async def run(extent: Extent, error: BaseException | None = None) -> None:
    async with extent.told_at_the_deadline():
        if error is not None:
            raise error
        await asyncio.Event().wait()


async def test_the_deadline_tells_how_much_is_done_and_that_it_is_kept() -> None:
    extent = Extent(lambda: 0.05)
    await extent.reached(32, 90)

    with pytest.raises(DeadlineExceededError, match=r"32 of 90 chunks\. Send it again") as caught:
        await run(extent)
    assert caught.value.metadata == {"embeddedChunks": "32", "totalChunks": "90"}


async def test_it_is_told_before_grpc_hangs_up() -> None:
    """F42: at the deadline itself no status reaches the client."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 2.0

    with pytest.raises(DeadlineExceededError):
        await run(Extent(lambda: deadline - loop.time()))
    assert loop.time() < deadline


async def test_a_document_that_was_not_even_read_is_not_said_to_be_kept() -> None:
    with pytest.raises(DeadlineExceededError, match="not enough to read the document"):
        await run(Extent(lambda: 0.0))


async def test_the_deadline_of_the_database_is_told_in_the_same_way() -> None:
    extent = Extent(lambda: 5.0)
    await extent.reached(1, 2)

    with pytest.raises(DeadlineExceededError, match="1 of 2 chunks"):
        await run(extent, DeadlineExceededError(Reason.DEADLINE_EXCEEDED, "too late"))


@pytest.mark.parametrize("error", [asyncio.CancelledError(), TimeoutError()])
async def test_what_is_not_the_deadline_goes_through(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        await run(Extent(lambda: 5.0), error)
    assert caught.value is error
