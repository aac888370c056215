"""The contract of the library, kept by the fake and by Postgres alike."""

from dataclasses import dataclass, replace

import pytest

from services.common.errors import DomainError, NotFoundError, Reason
from services.common.postgres.connect import connection
from services.common.postgres.pool import Pool
from services.common.postgres.settings import DATABASE
from services.ingest.document_store import PostgresLibraryStore
from services.ingest.library import Library as UseCase
from services.ingest.model import Lane, Position, StoredDocument
from services.ingest.ports import DocumentStore, LibraryStore
from services.ingest.store import PostgresDocumentStore
from services.retrieval.model import VectorQuery
from services.retrieval.ports import PassageStore
from services.retrieval.store import PostgresPassageStore
from tests.database.conftest import THRESHOLDS, activate, activate_space
from tests.database.samples import DIMENSIONS, MODEL, key, sample, vector
from tests.database.servers import Server
from tests.fakes.library import FakeDocumentStore, FakeLibraryStore, FakePassageStore, Library

LANE = "library-lane"
MAKE_LANE = """
INSERT INTO attest.lanes (name, description, chunk_tokens, overlap_tokens) VALUES ($1, 'Of a test.', 100, 10)
ON CONFLICT DO NOTHING
"""


@dataclass
class Ends:
    """What writes, shows and searches one library."""

    documents: DocumentStore
    library: LibraryStore
    passages: PassageStore
    spaces: tuple[int, int]
    tenant: str

    async def put(self, name: str, texts: list[str], space: int = 0, lane: str = "default") -> StoredDocument:
        made = sample(self.tenant, texts, [vector(1)] * len(texts), name=name, lane=lane)
        done = await self.documents.replace(made.document, self.spaces[space], made.chunks, made.vectors)
        return done.document

    async def names(self, lane: str | None = None, after: Position | None = None, limit: int = 100) -> list[str]:
        found = await self.library.documents(self.tenant, lane, after, limit)
        return [document.source_url.removeprefix("docs/") for document in found]

    async def found(self) -> list[str]:
        query = VectorQuery(self.tenant, self.spaces[0], vector(1), (), 10, -1.0)
        return sorted(passage.content for passage in await self.passages.search_vector(query))


@pytest.fixture(params=["fake", "postgres"])
async def ends(
    request: pytest.FixtureRequest,
    server: Server,
    documents: PostgresDocumentStore,
    passages: PostgresPassageStore,
    writer: Pool,
    tenant: str,
) -> Ends:
    if request.param == "postgres":
        async with connection(server.superuser.in_database(DATABASE)) as superuser:
            await superuser.execute(MAKE_LANE, LANE)
        space_id = await activate(server, documents, MODEL, DIMENSIONS)
        other = await documents.ensure_space("second-model-of-the-tests", DIMENSIONS, THRESHOLDS)
        return Ends(documents, PostgresLibraryStore(writer), passages, (space_id, other), tenant)
    library = Library()
    other = library.activate("second-model-of-the-tests", DIMENSIONS)
    space_id = library.activate(MODEL, DIMENSIONS)
    library.lanes[LANE] = Lane(LANE, "Of a test.", 100, 10)
    stores = FakeDocumentStore(library), FakeLibraryStore(library), FakePassageStore(library)
    return Ends(*stores, (space_id, other), tenant)


def position(document: StoredDocument) -> Position:
    return Position(document.updated_at, document.document_id)


async def refusal(ends: Ends, document_id: str) -> tuple[Reason, str]:
    with pytest.raises(NotFoundError) as caught:
        await ends.library.document(ends.tenant, document_id)
    with pytest.raises(NotFoundError) as deleted:
        await ends.library.delete(ends.tenant, document_id)
    assert caught.value.message == deleted.value.message
    return caught.value.reason, caught.value.message


async def test_a_document_is_shown_as_it_was_stored(ends: Ends) -> None:
    stored = await ends.put("a.md", ["one", "two"])

    assert await ends.library.document(ends.tenant, stored.document_id) == stored


async def test_a_document_of_another_tenant_is_as_one_that_never_was(ends: Ends) -> None:
    stored = await ends.put("a.md", ["one"])
    other = replace(ends, tenant=ends.tenant + "-other")

    assert await refusal(other, stored.document_id) == await refusal(other, key("never"))
    assert await other.names() == []
    assert await ends.names() == ["a.md"]


async def test_the_newest_stands_first_and_a_new_version_is_new(ends: Ends) -> None:
    for name in ("a.md", "b.md", "c.md"):
        await ends.put(name, ["one"])
    assert await ends.names() == ["c.md", "b.md", "a.md"]

    await ends.put("a.md", ["two"])

    assert await ends.names() == ["a.md", "c.md", "b.md"]


async def test_a_list_goes_on_behind_a_position_whatever_comes_in_meanwhile(ends: Ends) -> None:
    stored = [await ends.put(f"{n}.md", ["one"]) for n in range(4)]

    first = await ends.names(limit=2)
    await ends.put("new.md", ["one"])
    rest = await ends.names(after=position(stored[2]), limit=2)

    assert (first, rest) == (["3.md", "2.md"], ["1.md", "0.md"])
    assert await ends.names(after=position(stored[0])) == []


async def test_a_position_whose_document_is_gone_still_stands(ends: Ends) -> None:
    stored = [await ends.put(f"{n}.md", ["one"]) for n in range(3)]
    await ends.library.delete(ends.tenant, stored[1].document_id)

    assert await ends.names(after=position(stored[1])) == ["0.md"]


async def test_a_list_may_be_of_one_lane(ends: Ends) -> None:
    await ends.put("a.md", ["one"])
    await ends.put("b.md", ["one"], lane=LANE)

    assert await ends.names(LANE) == ["b.md"]
    assert await ends.names("default") == ["a.md"]


async def test_a_list_of_an_unknown_lane_is_refused(ends: Ends) -> None:
    with pytest.raises(NotFoundError) as caught:
        await ends.names("nowhere")

    assert caught.value.reason is Reason.LANE_UNKNOWN


async def test_a_deletion_takes_all_of_one_document_and_says_how_much(ends: Ends, server: Server) -> None:
    await ends.put("stays.md", ["stays"])
    gone = await ends.put("goes.md", ["first", "second"])
    assert await ends.found() == ["first", "second", "stays"]

    receipt = await ends.library.delete(ends.tenant, gone.document_id)

    assert (receipt.document, receipt.chunks, receipt.vectors) == (gone, 2, 2)
    assert await ends.found() == ["stays"]
    assert await ends.names() == ["stays.md"]
    assert (await refusal(ends, gone.document_id))[0] is Reason.NOT_FOUND


async def test_a_deletion_counts_the_vectors_of_every_space(ends: Ends, server: Server) -> None:
    await ends.put("a.md", ["first", "second"])
    await switch(ends, server, 1)
    stored = await ends.put("a.md", ["first", "second", "third"], space=1)
    await switch(ends, server, 0)

    receipt = await ends.library.delete(ends.tenant, stored.document_id)

    assert (receipt.chunks, receipt.vectors) == (3, 5)


async def test_a_deleted_document_may_come_again_as_a_new_one(ends: Ends) -> None:
    stored = await ends.put("a.md", ["one"])
    await ends.put("a.md", ["two"])
    await ends.library.delete(ends.tenant, stored.document_id)

    again = await ends.put("a.md", ["one"])

    assert (again.document_id, again.version) == (stored.document_id, 1)
    assert await ends.found() == ["one"]


async def test_lanes_are_listed_by_name_with_the_documents_of_the_tenant(ends: Ends) -> None:
    await ends.put("a.md", ["one"], lane=LANE)
    await ends.put("b.md", ["one"], lane=LANE)
    other = replace(ends, tenant=ends.tenant + "-other")

    listed = {used.lane.name: used for used in await ends.library.lanes(ends.tenant, None, 100)}

    assert (listed["default"].document_count, listed[LANE].document_count) == (0, 2)
    assert listed[LANE].lane == Lane(LANE, "Of a test.", 100, 10)
    assert list(listed) == sorted(listed)
    assert {used.document_count for used in await other.library.lanes(other.tenant, None, 100)} == {0}
    assert "default" not in {used.lane.name for used in await ends.library.lanes(ends.tenant, "default", 100)}
    assert len(await ends.library.lanes(ends.tenant, None, 1)) == 1


async def test_the_use_case_turns_the_pages_of_either(ends: Ends) -> None:
    for n in range(5):
        await ends.put(f"{n}.md", ["one"])
    library, token, turned = UseCase(ends.library), "", []
    for _ in range(3):
        page = await library.documents(ends.tenant, "default", 2, token)
        turned.append([document.source_url for document in page.documents])
        token = page.next_page_token

    assert turned == [["docs/4.md", "docs/3.md"], ["docs/2.md", "docs/1.md"], ["docs/0.md"]]
    assert token == ""


async def test_what_is_no_id_is_not_found_by_either(ends: Ends) -> None:
    for document_id in ("", "x" * 1000, "'; --"):
        with pytest.raises(DomainError):
            await ends.library.document(ends.tenant, document_id)


async def switch(ends: Ends, server: Server, space: int) -> None:
    """Make one of the two spaces the active one."""
    if isinstance(ends.library, FakeLibraryStore):
        ends.library._library.active = ends.spaces[space]
    else:
        await activate_space(server, ends.spaces[space])


async def test_documents_are_listed_by_what_their_address_begins_with(ends: Ends) -> None:
    for name in ("a/1", "a_b/2", "a%/3"):
        await ends.put(name, [name])

    for prefix, expected in (("docs/a/", ["docs/a/1"]), ("docs/a_", ["docs/a_b/2"]), ("docs/a%", ["docs/a%/3"])):
        found = await ends.library.documents(ends.tenant, None, None, 10, prefix)
        of_lane = await ends.library.documents(ends.tenant, "default", None, 10, prefix)
        assert [document.source_url for document in found] == expected
        assert found == of_lane


async def test_the_settings_of_now_are_those_of_the_lanes_asked_for(ends: Ends) -> None:
    now = await ends.library.settings({LANE, "nowhere"})

    assert now.lanes == {LANE: Lane(LANE, "Of a test.", 100, 10)}
    assert now.space_id == ends.spaces[0]
