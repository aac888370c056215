"""Whether a stored document is as an ingest of now would make it."""

from dataclasses import replace

import pytest

from services.common.errors import InvalidArgumentError
from services.ingest.ingest import IngestDocument
from services.ingest.library import Library
from services.ingest.media import MARKDOWN
from services.ingest.model import Lane, Outcome
from services.ingest.request import IngestRequest, UploadHeader
from tests.fakes.ingest import CountingEmbedder, MemorySpool, ReaderHere
from tests.fakes.library import FakeDocumentStore, FakeLibraryStore, FakeVectorCache
from tests.fakes.library import Library as Shelves

MODEL, TENANT = "model-of-the-tests", "default"
PAGE = b"# Tea\n\nThe kettle is on the third floor.\n"


@pytest.fixture
def shelves() -> Shelves:
    made = Shelves()
    made.activate(MODEL, 2)
    return made


def use_case(shelves: Shelves) -> IngestDocument:
    store, cache = FakeDocumentStore(shelves), FakeVectorCache(shelves)
    return IngestDocument(store, cache, CountingEmbedder(), ReaderHere(), model=MODEL, content_key=b"k" * 32)


def inline(source_url: str = "docs/tea.md", **given: object) -> IngestRequest:
    fields = {"lane": "", "title": "", "media_type": MARKDOWN, "metadata": {}, "content": PAGE.decode(), **given}
    return IngestRequest.checked(tenant=TENANT, source_url=source_url, **fields)  # type: ignore[arg-type]  # its fields


async def uploaded(source_url: str, filename: str) -> IngestRequest:
    header = UploadHeader.checked(
        tenant=TENANT, lane="", source_url=source_url, title="", filename=filename, content_type=MARKDOWN
    )
    spool = MemorySpool()
    await spool.write(PAGE)
    return header.request(MARKDOWN, await spool.content())


async def is_up_to_date(shelves: Shelves, given: IngestRequest) -> bool:
    stored = (await use_case(shelves)(given)).document
    library = Library(FakeLibraryStore(shelves))
    (listed,) = (await library.documents(TENANT, "", 10, "")).documents
    assert listed == await library.document(TENANT, stored.document_id)
    return listed.up_to_date


async def test_a_document_that_was_just_ingested_is_up_to_date(shelves: Shelves) -> None:
    assert await is_up_to_date(shelves, inline()) is True


@pytest.mark.parametrize("given", [{"title": "Tea"}, {"metadata": {"owner": "Ada"}}], ids=["title", "metadata"])
async def test_what_an_ingest_without_it_would_change_is_not(shelves: Shelves, given: dict[str, object]) -> None:
    assert await is_up_to_date(shelves, inline(**given)) is False


@pytest.mark.parametrize(("filename", "expected"), [("", True), ("tea.md", True), ("brewing.md", False)])
async def test_a_file_name_counts_where_it_says_more_than_the_address(
    shelves: Shelves, filename: str, expected: bool
) -> None:
    assert await is_up_to_date(shelves, await uploaded("docs/tea.md", filename)) is expected


async def test_a_file_name_that_gave_another_title_counts(shelves: Shelves) -> None:
    """A name that is encoded twice is shown encoded."""
    assert await is_up_to_date(shelves, await uploaded("docs/green%20tea.md", "green tea.md")) is True
    assert await is_up_to_date(shelves, await uploaded("docs/green%20tea.md", "green%20tea.md")) is False


async def test_other_sizes_of_the_lane_make_it_out_of_date_until_it_is_sent_again(shelves: Shelves) -> None:
    await use_case(shelves)(inline())
    shelves.lanes["default"] = replace(shelves.lanes["default"], chunk_tokens=120)
    library = Library(FakeLibraryStore(shelves))
    (before,) = (await library.documents(TENANT, "", 10, "")).documents
    again = await use_case(shelves)(inline())
    (after,) = (await library.documents(TENANT, "", 10, "")).documents

    assert (before.up_to_date, again.outcome, after.up_to_date) == (False, Outcome.REPLACED, True)


async def test_another_space_makes_it_out_of_date(shelves: Shelves) -> None:
    await use_case(shelves)(inline())
    shelves.activate("another-model", 2)

    (listed,) = (await Library(FakeLibraryStore(shelves)).documents(TENANT, "", 10, "")).documents
    assert listed.up_to_date is False


async def test_documents_of_two_lanes_are_each_compared_with_their_own(shelves: Shelves) -> None:
    shelves.lanes["hr"] = Lane("hr", "", 100, 10)
    await use_case(shelves)(inline("docs/a.md"))
    await use_case(shelves)(inline("docs/b.md", lane="hr"))

    listed = (await Library(FakeLibraryStore(shelves)).documents(TENANT, "", 10, "")).documents
    assert [(document.lane, document.up_to_date) for document in listed] == [("hr", True), ("default", True)]


async def test_documents_are_listed_by_what_their_address_begins_with(shelves: Shelves) -> None:
    for source_url in ("docs/a.md", "docs_old/b.md", "doc%/c.md"):
        await use_case(shelves)(inline(source_url))
    library = Library(FakeLibraryStore(shelves))

    for prefix, expected in (("docs/", ["docs/a.md"]), ("doc%", ["doc%/c.md"]), ("docs_", ["docs_old/b.md"])):
        listed = (await library.documents(TENANT, "", 10, "", prefix)).documents
        assert [document.source_url for document in listed] == expected


async def test_a_prefix_that_no_address_can_begin_with_is_refused(shelves: Shelves) -> None:
    with pytest.raises(InvalidArgumentError, match="source_url_prefix"):
        await Library(FakeLibraryStore(shelves)).documents(TENANT, "", 10, "", "a\0b")
