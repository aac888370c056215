"""A PDF all the way: sent in pieces to ingest, answered with its page through the gateway."""

import asyncio
from collections.abc import Iterator
from itertools import chain

import grpc
import pytest

from attest.ingest.v1 import ingest_service_pb2 as pb
from attest.ingest.v1 import ingest_service_pb2_grpc
from services.cli.stack.cluster import Cluster
from services.cli.stack.secrets import load_or_create
from services.common.postgres.connect import connection
from services.common.postgres.settings import DATABASE
from tests.fakes.pdf import pdf
from tests.stack.local_stack import LocalStack

ADDRESS = "manuals/boiler.pdf"
QUESTION = "How often is the boiler in the cellar descaled?"
PAGES = (
    "Boiler manual\nThis manual is for the caretaker of the house.",
    "The boiler in the cellar is descaled every eleven months by the caretaker.\nThe filter is rinsed in water.",
    "",
)

pytestmark = pytest.mark.stack


def pieces(data: bytes, **fields: str) -> Iterator[pb.UploadDocumentRequest]:
    yield pb.UploadDocumentRequest(**fields)
    for start in range(0, len(data), 500):
        request = pb.UploadDocumentRequest()
        request.data.data = data[start : start + 500]
        yield request


def upload(stack: LocalStack, data: bytes, **fields: str) -> list[pb.UploadDocumentResponse]:
    with grpc.insecure_channel(f"127.0.0.1:{stack.ports['INGEST']}") as channel:
        stub = ingest_service_pb2_grpc.IngestServiceStub(channel)
        return list(stub.UploadDocument(pieces(data, **fields), timeout=60))


def test_a_pdf_is_answered_from_with_its_page(stack: LocalStack) -> None:
    """F95: the citation opens the right page, and its span is a span of that page's text."""
    last = upload(stack, pdf(PAGES, title="Boiler manual"), source_url=ADDRESS)[-1]
    reply = stack.post("/api/answer", {"question": QUESTION})

    assert last.result.outcome == pb.IngestOutcome.CREATED
    assert (last.result.document.page_count, list(last.result.warnings)) == (
        3,
        ["no text on pages 3: scanned or blank, they cannot be searched"],
    )
    assert reply.body["outcome"] == "ANSWERED"
    assert "every eleven months" in reply.body["answer"]
    cited = next(source for source in reply.body["sources"] if source["cited"])
    assert (cited["source"], cited["source_url"], cited["page"]) == ("Boiler manual", ADDRESS, 2)
    assert cited["content"] == PAGES[1][cited["char_start"] : cited["char_end"]]


def test_the_same_pdf_again_changes_nothing(stack: LocalStack) -> None:
    data = pdf(["The attic is locked at night."])
    outcomes = [upload(stack, data, filename="attic.pdf")[-1].result for _ in range(2)]

    assert [result.outcome for result in outcomes] == [pb.IngestOutcome.CREATED, pb.IngestOutcome.UNCHANGED]
    assert outcomes[1].tokens_embedded == 0


async def _cached(stack: LocalStack) -> int:
    cluster = Cluster(stack.home, stack.ports["PG"], load_or_create(stack.home))
    async with connection(cluster.superuser.in_database(DATABASE)) as opened:
        return int(await opened.fetchval("SELECT count(*) FROM attest.embedding_cache"))


async def test_a_long_document_leaves_nothing_in_the_cache_and_is_found_at_its_end(stack: LocalStack) -> None:
    parts = (f"# Room {number}\n\nRoom {number} has {number} chairs and a lamp.\n\n" * 3 for number in range(60))
    text = "".join(chain(parts, ["# Last\n\nThe zeppelin is kept in the last room.\n"])).encode()
    last = (await asyncio.to_thread(upload, stack, text, filename="rooms.md"))[-1]
    found = stack.post("/api/search", {"query": "Where is the zeppelin kept?", "top_k": 1}).body["passages"]

    assert last.embedded_chunks == last.total_chunks == last.result.document.chunk_count > 32
    assert await _cached(stack) == 0
    assert "zeppelin" in found[0]["content"]
