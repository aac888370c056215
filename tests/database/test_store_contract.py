"""The contract of both stores, kept by the fake and by Postgres alike."""

from dataclasses import dataclass, replace

import pytest

from services.common.embedding.thresholds import Thresholds
from services.common.errors import AbortedError, InvalidArgumentError, NotFoundError, Reason
from services.ingest.model import Replacement
from services.ingest.ports import DocumentStore
from services.ingest.store import PostgresDocumentStore
from services.retrieval.model import Passage, VectorQuery
from services.retrieval.ports import PassageStore
from services.retrieval.store import PostgresPassageStore
from tests.database.conftest import THRESHOLDS, activate
from tests.database.samples import DIMENSIONS, MODEL, Sample, key, sample, vector
from tests.database.servers import Server
from tests.fakes.library import FakeDocumentStore, FakePassageStore, Library

EAST, NORTH, NORTH_EAST = vector(1, 0), vector(0, 1), vector(1, 1)


@dataclass
class Stores:
    """Both ends of one database."""

    documents: DocumentStore
    passages: PassageStore
    space_id: int
    tenant: str

    async def put(self, made: Sample) -> Replacement:
        return await self.documents.replace(made.document, self.space_id, made.chunks, made.vectors)

    async def search(self, **changes: object) -> list[Passage]:
        query = VectorQuery(self.tenant, self.space_id, EAST, (), 5, -1.0)
        return list(await self.passages.search_vector(replace(query, **changes)))  # type: ignore[arg-type]


@pytest.fixture(params=["fake", "postgres"])
async def stores(
    request: pytest.FixtureRequest,
    server: Server,
    documents: PostgresDocumentStore,
    passages: PostgresPassageStore,
    tenant: str,
) -> Stores:
    if request.param == "postgres":
        space_id = await activate(server, documents, MODEL, DIMENSIONS)
        return Stores(documents, passages, space_id, tenant)
    library = Library()
    space_id = library.activate(MODEL, DIMENSIONS)
    return Stores(FakeDocumentStore(library), FakePassageStore(library), space_id, tenant)


async def test_the_default_lane_is_there(stores: Stores) -> None:
    lane = await stores.documents.lane("default")

    assert (lane.chunk_tokens, lane.overlap_tokens) == (200, 30)


async def test_an_unknown_lane_is_not_found(stores: Stores) -> None:
    with pytest.raises(NotFoundError) as caught:
        await stores.documents.lane("hr")

    assert Reason.LANE_UNKNOWN is caught.value.reason


async def test_both_ends_see_the_same_active_space(stores: Stores) -> None:
    written, read = await stores.documents.active_space(), await stores.passages.active_space()

    assert (stores.space_id, MODEL, DIMENSIONS) == (written.space_id, written.model, written.dimensions)
    assert (stores.space_id, MODEL, DIMENSIONS, THRESHOLDS) == (
        read.space_id,
        read.model,
        read.dimensions,
        Thresholds(read.min_similarity, read.gate_start),
    )


async def test_a_stored_document_is_found_as_it_was_given(stores: Stores) -> None:
    made = sample(stores.tenant, ["a b", "c"], [EAST, NORTH], title="Leave")
    replaced = await stores.put(made)

    found = await stores.documents.find(stores.tenant, "default", "docs/one.md")

    assert found == replaced.document
    assert (found.version, found.chunk_count, found.char_count, found.page_count) == (1, 2, 5, None)
    assert made.document.metadata == found.metadata
    assert (made.document.content_sha256, made.document.settings_sha256) == (
        found.content_sha256,
        found.settings_sha256,
    )


async def test_what_was_never_stored_is_not_found(stores: Stores) -> None:
    assert await stores.documents.find(stores.tenant, "default", "docs/one.md") is None


async def test_a_search_returns_the_closest_first_with_all_that_a_citation_needs(stores: Stores) -> None:
    made = sample(stores.tenant, ["north", "east", "between"], [NORTH, EAST, NORTH_EAST], title="Compass")
    await stores.put(made)

    found = await stores.search()

    assert [passage.content for passage in found] == ["east", "between", "north"]
    assert pytest.approx([passage.similarity for passage in found], abs=1e-4) == [1.0, 0.7071, 0.0]
    assert [passage.vector_rank for passage in found] == [1, 2, 3]
    best = found[0]
    assert (made.document.document_id, "default", "Compass", "docs/one.md", 1) == (
        best.document_id,
        best.lane,
        best.title,
        best.source_url,
        best.version,
    )
    assert (key(stores.tenant, "one.md", "east"), 6, 10, None, ("Handbook", 'A "quoted" {heading}, with commas')) == (
        best.passage_id,
        best.char_start,
        best.char_end,
        best.page,
        best.heading_path,
    )


async def test_equally_close_passages_come_in_the_order_of_their_ids(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["a", "b", "c", "d"], [EAST] * 4))

    ids = [passage.passage_id for passage in await stores.search()]

    assert sorted(ids) == ids


async def test_the_threshold_is_inclusive_and_cuts_below(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["east", "between"], [EAST, NORTH_EAST]))

    assert [passage.content for passage in await stores.search(min_similarity=0.8)] == ["east"]
    assert [passage.content for passage in await stores.search(min_similarity=1.0)] == ["east"]


async def test_top_k_limits_the_passages(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["a", "b", "c"], [EAST] * 3))

    assert len(await stores.search(top_k=2)) == 2


@pytest.mark.parametrize("top_k", [0, 1001])
async def test_top_k_outside_its_range_is_refused(stores: Stores, top_k: int) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await stores.search(top_k=top_k)

    assert Reason.FIELD_OUT_OF_RANGE is caught.value.reason


async def test_a_search_in_a_known_lane_finds_what_is_in_it(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["a"], [EAST]))

    assert len(await stores.search(lanes=("default",))) == 1


async def test_a_search_in_an_unknown_lane_is_refused_even_when_the_tenant_has_nothing(stores: Stores) -> None:
    with pytest.raises(NotFoundError) as caught:
        await stores.search(lanes=("default", "hr"))

    assert Reason.LANE_UNKNOWN is caught.value.reason


async def test_a_search_with_other_dimensions_is_refused(stores: Stores) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await stores.search(vector=vector(1, dimensions=DIMENSIONS + 1))

    assert Reason.DIMENSION_MISMATCH is caught.value.reason


async def test_a_search_in_a_space_that_is_not_active_is_refused(stores: Stores) -> None:
    with pytest.raises(AbortedError) as caught:
        await stores.search(space_id=stores.space_id + 1000)

    assert Reason.SPACE_MISMATCH is caught.value.reason


async def test_another_tenant_finds_nothing_and_hinders_nothing(stores: Stores) -> None:
    made = sample(stores.tenant, ["mine"], [EAST])
    await stores.put(made)
    other = replace(stores, tenant=stores.tenant + "-other")

    assert await other.search() == []
    assert await other.documents.find(other.tenant, "default", "docs/one.md") is None
    assert not await other.documents.embedded_chunks(other.tenant, other.space_id, list(made.chunks))
    # The same ids under another tenant are other things, so that nobody learns what somebody else has.
    theirs = replace(made, document=replace(made.document, tenant=other.tenant))
    assert (await other.put(theirs)).document.version == 1
    assert len(await other.search()) == 1


async def test_a_new_version_keeps_what_stayed_and_drops_what_went(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["stays", "goes"], [EAST, NORTH]))
    new = sample(stores.tenant, ["new", "stays"], [NORTH_EAST, EAST])
    kept = key(stores.tenant, "one.md", "stays")

    replaced = await stores.put(replace(new, vectors={k: v for k, v in new.vectors.items() if k != kept}))

    assert (replaced.chunks_added, replaced.chunks_kept, replaced.chunks_removed) == (1, 1, 1)
    assert (replaced.document.version, replaced.document.chunk_count) == (2, 2)
    found = await stores.search()
    assert [passage.content for passage in found] == ["stays", "new"]
    assert {2} == {passage.version for passage in found}
    assert found[0].char_start == 4


async def test_the_stored_chunks_are_known_by_their_keys(stores: Stores) -> None:
    made = sample(stores.tenant, ["a", "b"], [EAST, NORTH])
    await stores.put(made)

    there = await stores.documents.embedded_chunks(stores.tenant, stores.space_id, [*made.chunks, key("unknown")])

    assert set(made.chunks) == there


async def test_a_chunk_without_a_vector_anywhere_leaves_the_old_version(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["old"], [EAST]))
    new = sample(stores.tenant, ["new"], [EAST])

    with pytest.raises(AbortedError) as caught:
        await stores.put(replace(new, vectors={}))

    assert Reason.DOCUMENT_BUSY is caught.value.reason
    assert [passage.content for passage in await stores.search()] == ["old"]


async def test_a_vector_that_is_given_again_takes_the_place_of_the_old_one(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["text"], [NORTH]))

    await stores.put(sample(stores.tenant, ["text"], [EAST], title="Another title"))

    assert pytest.approx([passage.similarity for passage in await stores.search()]) == [1.0]


async def test_a_document_for_a_space_that_is_not_active_is_refused(stores: Stores) -> None:
    made = sample(stores.tenant, ["a"], [EAST])

    with pytest.raises(AbortedError) as caught:
        await stores.documents.replace(made.document, stores.space_id + 1000, made.chunks, made.vectors)

    assert Reason.SPACE_MISMATCH is caught.value.reason


async def test_a_document_for_an_unknown_lane_is_refused(stores: Stores) -> None:
    with pytest.raises(NotFoundError) as caught:
        await stores.put(sample(stores.tenant, ["a"], [EAST], lane="hr"))

    assert Reason.LANE_UNKNOWN is caught.value.reason


async def test_a_document_based_on_a_version_that_was_replaced_is_refused(stores: Stores) -> None:
    await stores.put(sample(stores.tenant, ["first"], [EAST], based_on=0))
    await stores.put(sample(stores.tenant, ["second"], [EAST], based_on=1))

    for stale in (0, 1):
        with pytest.raises(AbortedError) as caught:
            await stores.put(sample(stores.tenant, ["third"], [EAST], based_on=stale))
        assert Reason.DOCUMENT_BUSY is caught.value.reason

    assert [passage.content for passage in await stores.search()] == ["second"]
