import math

import pytest

from services.common.errors import InvalidArgumentError, NotFoundError, Reason
from services.ingest.spaces import Spaces
from tests.fakes.library import FakeSpaceStore, Library


@pytest.fixture
def spaces() -> Spaces:
    library = Library()
    for number in range(5):
        library.activate(f"model-{number}", 3)
    return Spaces(FakeSpaceStore(library))


async def test_pages_hold_every_space_once(spaces: Spaces) -> None:
    models, token = list[str](), ""
    while True:
        page = await spaces.list(2, token)
        models += [space.model for space in page.spaces]
        token = page.next_page_token
        if not token:
            break

    assert models == [f"model-{number}" for number in range(5)]


async def test_a_token_of_another_list_is_refused(spaces: Spaces) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await spaces.list(2, "WyJsYW5lcyIsImRlZmF1bHQiXQ")

    assert caught.value.reason is Reason.FIELD_INVALID


async def test_both_thresholds_are_set(spaces: Spaces) -> None:
    changed = await spaces.set_thresholds("3", 0.0, -1.0)

    assert (changed.model, changed.min_similarity, changed.gate_start) == ("model-2", 0.0, -1.0)


@pytest.mark.parametrize("space_id", ["6", "0", "x", "-1", "٣", "9" * 10, "9" * 30])
async def test_an_id_of_no_space_is_not_found(spaces: Spaces, space_id: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        await spaces.set_thresholds(space_id, 0.1, 0.1)

    assert caught.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    ("space_id", "values", "reason", "field"),
    [
        ("", (0.1, 0.1), Reason.FIELD_MISSING, "space_id"),
        ("1", (None, 0.1), Reason.FIELD_MISSING, "min_similarity"),
        ("1", (0.1, None), Reason.FIELD_MISSING, "gate_start"),
        ("1", (1.1, 0.1), Reason.FIELD_OUT_OF_RANGE, "min_similarity"),
        ("1", (0.1, math.nan), Reason.FIELD_OUT_OF_RANGE, "gate_start"),
        ("1", (-math.inf, 0.1), Reason.FIELD_OUT_OF_RANGE, "min_similarity"),
    ],
)
async def test_a_wrong_threshold_names_its_field(
    spaces: Spaces, space_id: str, values: tuple[float | None, float | None], reason: Reason, field: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await spaces.set_thresholds(space_id, *values)

    assert (caught.value.reason, caught.value.metadata["field"]) == (reason, field)
