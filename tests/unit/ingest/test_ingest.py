"""What an ingest does, and what it does not do twice."""

from collections.abc import Mapping

import pytest

from services.common.errors import AbortedError, DomainError, Reason, UnavailableError
from services.ingest.ingest import IngestDocument, IngestResult
from services.ingest.model import Chunk, EmbeddedVector, NewDocument, Outcome, Replacement
from services.ingest.request import IngestRequest
from tests.fakes.ingest import CountingEmbedder, ReaderHere
from tests.fakes.library import FakeDocumentStore, FakeVectorCache, Library

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


async def test_the_same_bytes_again_embed_nothing(library: Library, embedder: CountingEmbedder) -> None:
    first = await ingest(library, embedder, request())
    embedder.texts.clear()
    second = await ingest(library, embedder, request())

    assert (second.outcome, second.document) == (Outcome.UNCHANGED, first.document)
    assert (embedder.texts, second.tokens_embedded) == ([], 0)


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


async def test_a_document_without_text_to_search_is_refused(library: Library, embedder: CountingEmbedder) -> None:
    """F85: zero usable text is a failure with a reason."""
    with pytest.raises(DomainError) as caught:
        await ingest(library, embedder, request("<!-- nothing to see -->\n\n---\n"))

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
