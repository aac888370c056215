"""What the library refuses, how it turns pages, and how large a page gets."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.common.errors import DomainError, Reason
from services.ingest.library import BATCH, MAX_PAGE_BYTES, Library
from services.ingest.model import Lane, Position, StoredDocument
from tests.fakes.library import FakeLibraryStore, Shelf
from tests.fakes.library import Library as Shelves

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def document(number: int, **changes: object) -> StoredDocument:
    made = StoredDocument(
        document_id=f"{number:032x}",
        tenant="default",
        lane="default",
        source_url=f"docs/{number}.md",
        title="",
        media_type="text/markdown",
        version=1,
        content_sha256=b"c" * 32,
        settings_sha256=b"s" * 32,
        space_id=1,
        char_count=1,
        page_count=None,
        chunk_count=0,
        metadata={},
        created_at=NOON,
        updated_at=NOON + timedelta(microseconds=number),
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # the fields of a document


def shelves(documents: Sequence[StoredDocument]) -> Shelves:
    made = Shelves()
    made.lanes["hr"] = Lane("hr", "", 200, 30)
    for one in documents:
        made.shelves[one.tenant, one.document_id] = Shelf(one, {})
    return made


def library(*documents: StoredDocument) -> Library:
    return Library(FakeLibraryStore(shelves(documents)))


async def pages(of: Library, page_size: int, lane: str = "") -> list[list[StoredDocument]]:
    found, token = [], ""
    while True:
        page = await of.documents("default", lane, page_size, token)
        found.append(list(page.documents))
        token = page.next_page_token
        if not token:
            return found


def token(*fields: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).decode().rstrip("=")


async def refusal(of: Library, page_token: str, lane: str = "") -> tuple[Reason, str]:
    with pytest.raises(DomainError) as caught:
        await of.documents("default", lane, 1, page_token)
    return caught.value.reason, caught.value.metadata.get("field", "")


@pytest.mark.parametrize(("asked", "got"), [(0, 50), (1, 1), (1000, 1000), (1001, 1000), (2**31 - 1, 1000)])
async def test_a_page_has_its_default_and_its_most(asked: int, got: int) -> None:
    full = library(*map(document, range(1001)))

    assert len((await full.documents("default", "", asked, "")).documents) == got


@pytest.mark.parametrize("size", [-1, -(2**31)])
async def test_a_negative_page_size_is_refused(size: int) -> None:
    for call in (library().documents("default", "", size, ""), library().lanes("default", size, "")):
        with pytest.raises(DomainError) as caught:
            await call
        assert caught.value.reason is Reason.FIELD_OUT_OF_RANGE


@pytest.mark.parametrize("count", [0, 1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 2 * BATCH + 1])
@pytest.mark.parametrize("page_size", [BATCH - 1, BATCH, BATCH + 1, 1000])
async def test_every_document_is_on_one_page(count: int, page_size: int) -> None:
    turned = await pages(library(*map(document, range(count))), page_size)

    assert [one.document_id for page in turned for one in page] == [f"{n:032x}" for n in reversed(range(count))]
    assert all(len(page) == page_size for page in turned[:-1])
    assert turned[-1] or count == 0


async def test_a_page_stays_within_what_the_gateway_lets_pass() -> None:
    """F63: metadata of any size is listed, on more pages."""
    heavy = {f"key-{n}": "<" * 1024 for n in range(128)}
    turned = await pages(library(*(document(n, metadata=heavy) for n in range(30))), 1000)

    assert sum(map(len, turned)) == 30
    assert 1 < len(turned) < 30
    for page in turned:
        texts = json.dumps([dict(one.metadata) for one in page]).replace("<", r"\u003c")
        assert len(texts) < MAX_PAGE_BYTES


async def test_a_document_larger_than_a_page_is_listed_alone() -> None:
    large = {"key": "<" * MAX_PAGE_BYTES}
    turned = await pages(library(*(document(n, metadata=large) for n in range(3))), 1000)

    assert [len(page) for page in turned] == [1, 1, 1]


@pytest.mark.parametrize(
    "bad",
    [
        "x",
        "!!!!",
        "\u00e9",
        "A" * 2000,
        base64.b64encode(b"[" * 300).decode(),
        token(),
        token("documents"),
        token("documents", "", "1"),
        token("documents", "", 1, "0" * 32),
        token("documents", "", "-1", "0" * 32),
        token("documents", "", "\u0661", "0" * 32) + "=",
        token("documents", "", "9" * 17, "0" * 32),
        token("documents", "", "1", "\0"),
        token("documents", "hr", "1", "0" * 32),
        token("lanes", "default"),
        token("lanes", "", "1", "0" * 32),
        token("documents", "", "1", "0" * 32) + "A",
        base64.urlsafe_b64encode(b'["documents", "", "1", "0"]').decode(),
    ],
)
async def test_a_page_token_that_no_list_gave_out_is_refused(bad: str) -> None:
    assert await refusal(library(document(1)), bad) == (Reason.FIELD_INVALID, "page_token")


async def test_a_page_token_belongs_to_the_list_of_its_lane() -> None:
    some = library(*(document(n, lane="hr") for n in range(3)))
    of_all = (await some.documents("default", "", 1, "")).next_page_token
    of_hr = (await some.documents("default", "hr", 1, "")).next_page_token

    assert await refusal(some, of_all, "hr") == (Reason.FIELD_INVALID, "page_token")
    assert await refusal(some, of_hr) == (Reason.FIELD_INVALID, "page_token")
    assert await refusal(some, of_hr, "default") == (Reason.FIELD_INVALID, "page_token")


async def test_a_page_token_keeps_the_microsecond() -> None:
    late = datetime(2199, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    some = library(document(1, updated_at=late), document(2, updated_at=late - timedelta(microseconds=1)))

    assert [page[0].document_id[-1] for page in await pages(some, 1)] == ["1", "2"]


async def test_a_lane_that_is_not_there_or_no_name_is_refused() -> None:
    assert (await refusal(library(), "", "nowhere"))[0] is Reason.LANE_UNKNOWN
    assert await refusal(library(), "", "HR; drop") == (Reason.FIELD_INVALID, "lane")


@pytest.mark.parametrize(
    ("document_id", "reason"),
    [
        ("", Reason.FIELD_MISSING),
        ("0" * 32, Reason.NOT_FOUND),
        (f"{1:031x}", Reason.NOT_FOUND),
        (f"{1:033x}", Reason.NOT_FOUND),
        (f"{1:032x}\n", Reason.NOT_FOUND),
        ("\0" * 32, Reason.NOT_FOUND),
        ("A" * 32, Reason.NOT_FOUND),
    ],
)
async def test_what_is_no_id_here_is_not_found(document_id: str, reason: Reason) -> None:
    some = library(document(1))
    for call in (some.document("default", document_id), some.delete("default", document_id)):
        with pytest.raises(DomainError) as caught:
            await call
        assert caught.value.reason is reason


async def test_lanes_are_paged_by_name() -> None:
    some = library(document(1, lane="hr"), document(2, lane="hr"), document(3, tenant="other"))
    first = await some.lanes("default", 1, "")
    last = await some.lanes("default", 1, first.next_page_token)

    assert [(used.lane.name, used.document_count) for used in (*first.lanes, *last.lanes)] == [
        ("default", 0),
        ("hr", 2),
    ]
    assert last.next_page_token == ""


@pytest.mark.parametrize("bad", ["x", token("documents", "", "1", "0" * 32), token("lanes", "a\0")])
async def test_a_token_of_another_list_is_refused_for_lanes(bad: str) -> None:
    with pytest.raises(DomainError) as caught:
        await library().lanes("default", 1, bad)

    assert caught.value.reason is Reason.FIELD_INVALID


async def test_a_batch_is_asked_for_and_never_the_whole_page() -> None:
    class Watched(FakeLibraryStore):
        asked: list[int] = []  # noqa: RUF012  # one instance

        async def documents(
            self, tenant: str, lane: str | None, after: Position | None, limit: int, prefix: str = ""
        ) -> Sequence[StoredDocument]:
            self.asked.append(limit)
            return await super().documents(tenant, lane, after, limit, prefix)

    store = Watched(shelves([document(n) for n in range(250)]))
    await Library(store).documents("default", "", 1000, "")

    assert store.asked == [BATCH + 1] * 3
