import asyncio

from services.common.errors import Reason, ResourceExhaustedError
from services.ingest.index_building import LOOK_SECONDS, IndexBuilding


class ScriptedIndex:
    """Has the sizes of a script, one a look; building ends it."""

    def __init__(self, *sizes: int | None) -> None:
        self.sizes = list(sizes)
        self.built = 0
        self.failures = 0

    async def due_size(self) -> int | None:
        return self.sizes.pop(0) if self.sizes else None

    async def build(self) -> bool:
        if self.failures:
            self.failures -= 1
            raise ResourceExhaustedError(Reason.SERVICE_BUSY, "Writes are under way.")
        self.built += 1
        return True


async def looks(index: ScriptedIndex) -> list[bool]:
    building = IndexBuilding(index)
    return [await building.look() for _ in range(len(index.sizes))]


async def test_a_space_that_is_not_due_is_left_alone() -> None:
    assert await looks(ScriptedIndex(None, None, None)) == [False, False, False]


async def test_a_load_that_goes_on_is_waited_for() -> None:
    assert await looks(ScriptedIndex(None, 100, 200, 300, 310)) == [False, False, False, False, True]


async def test_a_trickle_into_a_large_space_does_not_put_it_off_for_ever() -> None:
    assert await looks(ScriptedIndex(100_000, 104_000)) == [False, True]


async def test_a_failure_is_tried_again_at_the_next_look() -> None:
    index, slept = ScriptedIndex(100, 100, 100), list[float]()
    index.failures = 1
    done = asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if index.built:
            done.set()
            await asyncio.Event().wait()

    async with IndexBuilding(index, sleep):
        async with asyncio.timeout(5):
            await done.wait()

    assert (index.built, slept) == (1, [LOOK_SECONDS] * 4)


async def test_leaving_gives_up_a_build_that_is_under_way() -> None:
    class Slow(ScriptedIndex):
        begun = asyncio.Event()

        async def build(self) -> bool:
            self.begun.set()
            await asyncio.Event().wait()
            return True

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)

    index = Slow(1, 1)
    async with asyncio.timeout(5), IndexBuilding(index, sleep):
        await index.begun.wait()
