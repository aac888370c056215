"""Ways in turns."""

from bench.rounds import Way, interleaved


async def test_ways_take_turns_and_the_first_of_a_round_changes() -> None:
    called: list[str] = []

    await interleaved({name: _noting(name, called) for name in "ABC"}, rounds=3, warm_up=0)

    assert "".join(called) == "ABCBCACAB"


async def test_warm_up_rounds_are_in_no_figure() -> None:
    called: list[str] = []

    times = await interleaved({"A": _noting("A", called)}, rounds=2, warm_up=3)

    assert len(called) == 5
    assert len(times["A"].wall) == len(times["A"].cpu) == 2


async def test_every_way_gets_the_same_numbers() -> None:
    seen: dict[str, list[int]] = {"A": [], "B": []}

    def way(name: str) -> Way:
        async def note(number: int) -> None:
            seen[name].append(number)

        return note

    await interleaved({name: way(name) for name in seen}, rounds=4, warm_up=2)

    assert seen["A"] == seen["B"] == [2, 3, 0, 1, 2, 3]


async def test_a_way_that_measures_itself_is_believed() -> None:
    async def elsewhere(_: int) -> float:
        return 12.5

    assert (await interleaved({"A": elsewhere}, rounds=2))["A"].wall == [12.5, 12.5]


async def test_work_of_this_process_is_in_its_processor_time() -> None:
    async def work(_: int) -> None:
        sum(range(300_000))

    times = (await interleaved({"A": work}, rounds=2))["A"]

    assert min(times.cpu) > 0.5


def _noting(name: str, called: list[str]) -> Way:
    async def note(_: int) -> None:
        called.append(name)

    return note
