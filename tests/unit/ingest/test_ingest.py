"""What an ingest does, and what it does not do twice."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from services.common.errors import AbortedError, DomainError, FailedPreconditionError, Reason, UnavailableError
from services.ingest.ingest import IngestDocument, IngestResult
from services.ingest.media import PDF
from services.ingest.model import Chunk, Content, EmbeddedVector, NewDocument, Outcome, Replacement
from services.ingest.request import IngestRequest
from tests.fakes.ingest import CountingEmbedder, ReaderHere
from tests.fakes.library import FakeDocumentStore, FakeVectorCache, Library
from tests.fakes.pdf import pdf

MODEL = "words"
PAGE = "# Tea\n\nThe kettle is on the third floor.\n\n# Coffee\n\nThe grinder is on the second floor.\n"


class BusyStore(FakeDocumentStore):
    """Refuses the first replacements, as when others change the same document."""

    def __init__(self, library: Library, refusals: int) -> None:
        super().__init__(library)
        self.refusals = refusals

    async def replace(
        self,
        document: NewDocument,
        space_id: int,
        chunks: Mapping[str, Chunk],
        vectors: Mapping[str, EmbeddedVector],
    ) -> Replacement:
        if self.refusals:
            self.refusals -= 1
            raise AbortedError(Reason.DOCUMENT_BUSY, "Busy.")
        return await super().replace(document, space_id, chunks, vectors)


@pytest.fixture
def library() -> Library:
    made = Library()
    made.activate(MODEL, 2)
    return made


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


def request(content: str = PAGE, source_url: str = "a.md", **changes: str) -> IngestRequest:
    fields = {"tenant": "default", "lane": "", "title": "", "media_type": "", **changes}
    return IngestRequest.checked(source_url=source_url, content=content, metadata={}, **fields)


def use_case(store: FakeDocumentStore, embedder: CountingEmbedder, model: str = MODEL) -> IngestDocument:
    return IngestDocument(
        store, FakeVectorCache(store.library), embedder, ReaderHere(), model=model, content_key=b"k" * 32
    )


async def ingest(library: Library, embedder: CountingEmbedder, given: IngestRequest) -> IngestResult:
    return await use_case(FakeDocumentStore(library), embedder)(given)


async def test_a_new_document_is_created_whole(library: Library, embedder: CountingEmbedder) -> None:
    result = await ingest(library, embedder, request())

    assert (result.outcome, result.document.version) == (Outcome.CREATED, 1)
    assert (result.chunks_added, result.chunks_kept, result.chunks_removed) == (len(embedder.texts), 0, 0)
    assert result.tokens_embedded > 0


async def test_what_is_embedded_costs_by_the_token(library: Library, embedder: CountingEmbedder) -> None:
    ends = (FakeDocumentStore(library), FakeVectorCache(library), embedder, ReaderHere())
    paid = IngestDocument(*ends, model=MODEL, content_key=b"k" * 32, usd_per_million_tokens=0.02)
    first, again = await paid(request()), await paid(request())

    assert first.estimated_cost_usd == pytest.approx(first.tokens_embedded * 0.02 / 1_000_000)
    assert again.estimated_cost_usd == 0


async def test_the_same_bytes_again_embed_nothing(library: Library, embedder: CountingEmbedder) -> None:
    first = await ingest(library, embedder, request())
    embedder.texts.clear()
    second = await ingest(library, embedder, request())

    assert (second.outcome, second.document) == (Outcome.UNCHANGED, first.document)
    assert (embedder.texts, second.tokens_embedded) == ([], 0)


async def test_another_content_key_is_named_before_anything_is_embedded(
    library: Library, embedder: CountingEmbedder
) -> None:
    await ingest(library, embedder, request())
    embedder.texts.clear()
    store = FakeDocumentStore(library)
    cache = FakeVectorCache(library)
    keyed = IngestDocument(store, cache, embedder, ReaderHere(), model=MODEL, content_key=b"j" * 32)

    for content in ("# Tea\n\nAnother text.", None):
        with pytest.raises(FailedPreconditionError) as caught:
            await keyed(request(content) if content else request())
        assert caught.value.reason is Reason.CONTENT_KEY_MISMATCH
    assert embedder.texts == []


async def test_an_edit_embeds_only_what_changed(library: Library, embedder: CountingEmbedder) -> None:
    # Sections long enough to be chunks of their own.
    tea, coffee = (
        f"# {name}\n\n" + "The floor is clean and the cups are in the rack. " * 12 for name in ("Tea", "Coffee")
    )
    await ingest(library, embedder, request(f"---\ntitle: Drinks\n---\n{tea}\n\n{coffee}\n"))
    embedder.texts.clear()
    edited = await ingest(
        library, embedder, request(f"---\ntitle: Drinks\n---\n{tea}\n\n{coffee} Milk is in the fridge.\n")
    )

    assert edited.outcome is Outcome.REPLACED
    assert edited.chunks_kept >= 1
    assert len(embedder.texts) == edited.chunks_added
    assert not any("Tea" in text for text in embedder.texts)


async def test_another_title_is_another_version(library: Library, embedder: CountingEmbedder) -> None:
    await ingest(library, embedder, request())
    renamed = await ingest(library, embedder, request(title="Drinks"))

    assert (renamed.outcome, renamed.document.title, renamed.document.version) == (Outcome.REPLACED, "Drinks", 2)


async def test_tenants_with_the_same_document_have_each_their_own(library: Library, embedder: CountingEmbedder) -> None:
    mine = await ingest(library, embedder, request())
    theirs = await ingest(library, embedder, request(tenant="other"))

    assert (mine.outcome, theirs.outcome) == (Outcome.CREATED, Outcome.CREATED)
    assert mine.document.document_id != theirs.document.document_id


@pytest.mark.parametrize("content", ["<!-- nothing to see -->\n\n---\n", "\u200b\n\n\u2060"])
async def test_a_document_without_text_to_search_is_refused(
    library: Library, embedder: CountingEmbedder, content: str
) -> None:
    """F85: zero usable text is a failure with a reason."""
    with pytest.raises(DomainError) as caught:
        await ingest(library, embedder, request(content))

    assert caught.value.reason is Reason.DOCUMENT_EMPTY
    assert library.shelves == {}


async def test_an_ingest_that_met_another_one_tries_again(library: Library, embedder: CountingEmbedder) -> None:
    result = await use_case(BusyStore(library, refusals=2), embedder)(request())

    assert result.outcome is Outcome.CREATED


async def test_an_ingest_gives_up_after_three_meetings(library: Library, embedder: CountingEmbedder) -> None:
    with pytest.raises(AbortedError):
        await use_case(BusyStore(library, refusals=3), embedder)(request())


async def test_vectors_of_another_model_are_not_mixed_in(library: Library, embedder: CountingEmbedder) -> None:
    """F11: nothing would fail, and every ranking would be noise."""
    with pytest.raises(UnavailableError) as caught:
        await use_case(FakeDocumentStore(library), embedder, model="another")(request())

    assert caught.value.reason is Reason.SPACE_MISMATCH
    assert embedder.texts == []


async def test_a_change_of_space_embeds_the_same_bytes_again(library: Library, embedder: CountingEmbedder) -> None:
    """F11: what counts as the same depends on the model too."""
    await ingest(library, embedder, request())
    embedder.texts.clear()
    library.activate("another", 2)
    again = await use_case(FakeDocumentStore(library), embedder, model="another")(request())

    assert again.outcome is Outcome.REPLACED
    assert len(embedder.texts) == again.document.chunk_count


def long_page(parts: int = 80) -> str:
    return "".join(f"# Part {part}\n\n" + f"Sentence {part} is here. " * 40 + "\n\n" for part in range(parts))


async def test_a_long_document_is_embedded_in_batches(library: Library, embedder: CountingEmbedder) -> None:
    await ingest(library, embedder, request(long_page()))

    assert max(embedder.batches) == 32
    assert len(embedder.batches) >= 3


async def test_an_ingest_that_was_cut_off_goes_on_where_it_was(library: Library, embedder: CountingEmbedder) -> None:
    """A deadline cuts at an await, as a cancellation."""
    embedder.cut_off_after = 64
    with pytest.raises(asyncio.CancelledError):
        await ingest(library, embedder, request(long_page()))
    assert library.shelves == {}
    cut_off = list(embedder.texts)

    embedder.cut_off_after = None
    embedder.texts.clear()
    result = await ingest(library, embedder, request(long_page()))

    assert result.outcome is Outcome.CREATED
    assert len(cut_off) == 64
    assert not set(cut_off) & set(embedder.texts)
    assert len(cut_off) + len(embedder.texts) == result.document.chunk_count
    assert 0 < result.tokens_embedded < sum(chunk.token_count for chunk in chunks_of(library))


async def test_a_commit_leaves_nothing_in_the_cache(library: Library, embedder: CountingEmbedder) -> None:
    await ingest(library, embedder, request(long_page()))

    assert library.cached == {}


async def test_a_short_document_is_not_written_twice(library: Library, embedder: CountingEmbedder) -> None:
    store = BusyStore(library, refusals=3)
    with pytest.raises(AbortedError):
        await use_case(store, embedder)(request())

    assert library.cached == {}


async def test_what_met_another_ingest_is_neither_read_nor_embedded_again(
    library: Library, embedder: CountingEmbedder
) -> None:
    reader = ReaderHere()
    store = BusyStore(library, refusals=2)
    again = IngestDocument(store, FakeVectorCache(library), embedder, reader, model=MODEL, content_key=b"k" * 32)
    result = await again(request(long_page()))

    assert reader.reads == 1
    assert len(embedder.texts) <= result.document.chunk_count + 2 * 32


def chunks_of(library: Library) -> list[Chunk]:
    return [chunk for shelf in library.shelves.values() for chunk in shelf.chunks.values()]


async def test_the_same_bytes_sent_at_once_are_stored_once(library: Library, embedder: CountingEmbedder) -> None:
    results = await asyncio.gather(*(ingest(library, embedder, request()) for _ in range(5)))

    assert sorted(result.outcome.name for result in results) == ["CREATED"] + ["UNCHANGED"] * 4
    assert {result.document.version for result in results} == {1}


async def test_a_paged_document_tells_how_many_pages_have_text_and_how_many_have_none(
    library: Library, embedder: CountingEmbedder
) -> None:
    """F85: what cannot be searched is counted, not passed over."""
    data = pdf(["The kettle is on the third floor.", "", "The lamp is on the second."])
    sent = replace(request(source_url="guide.pdf"), media_type=PDF, content=Content(b"s" * 32, len(data), data))
    first, again = await ingest(library, embedder, sent), await ingest(library, embedder, sent)

    assert (first.pages_with_text, first.pages_without_text) == (2, 1)
    assert (again.outcome, again.pages_with_text, again.pages_without_text) == (Outcome.UNCHANGED, None, None)


async def test_a_document_without_pages_tells_of_none(library: Library, embedder: CountingEmbedder) -> None:
    result = await ingest(library, embedder, request())

    assert (result.pages_with_text, result.pages_without_text) == (None, None)
