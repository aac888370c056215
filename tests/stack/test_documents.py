"""Documents from end to end: listed, shown, deleted, over REST and gRPC alike."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.stack.local_stack import LocalStack, Reply

pytestmark = pytest.mark.stack

SERVICE = "attest.ingest.v1.IngestService"
NAMES = ("library/heron.md", "library/otter.md", "library/badger.md")
NOWHERE = "0" * 32


def send(stack: LocalStack, method: str, path: str) -> Reply:
    response = httpx2.request(method, f"{stack.url}{path}", timeout=60, trust_env=False)
    return Reply(response.status_code, response.json(), dict(response.headers))


def ingest(stack: LocalStack, source_url: str) -> dict[str, Any]:
    animal = source_url.removeprefix("library/").removesuffix(".md")
    text = f"# The {animal}\n\nThe {animal} of the archive is fed at seven every morning by the keeper.\n"
    reply = stack.post("/api/documents", {"source_url": source_url, "content": text})
    assert reply.status == 200, reply.body
    document: dict[str, Any] = reply.body["document"]
    return document


def found(stack: LocalStack, animal: str) -> set[str]:
    """Return the addresses that a search for the animal comes up with."""
    reply = stack.post("/api/search", {"query": f"When is the {animal} fed?", "top_k": 50, "min_similarity": -1})
    return {passage["source_url"] for passage in reply.body["passages"]}


@pytest.fixture
def three(stack: LocalStack) -> Iterator[list[dict[str, Any]]]:
    """Three documents, ingested in this order, and gone after the test."""
    made = [ingest(stack, name) for name in NAMES]
    yield made
    for document in made:
        send(stack, "DELETE", f"/api/documents/{document['document_id']}")


def test_documents_are_listed_page_by_page_newest_first(stack: LocalStack, three: list[dict[str, Any]]) -> None:
    first = send(stack, "GET", "/api/documents?lane=default&page_size=2")
    token = first.body["next_page_token"]
    second = send(stack, "GET", f"/api/documents?lane=default&page_size=2&page_token={token}")

    listed = [*first.body["documents"], *second.body["documents"]]
    assert [document["source_url"] for document in listed[:3]] == list(reversed(NAMES))
    assert listed[:3] == list(reversed(three))
    assert len(first.body["documents"]) == 2


def test_grpc_lists_the_same(stack: LocalStack, three: list[dict[str, Any]]) -> None:
    pages, token = [], ""
    for _ in range(2):
        code, page, error = stack.grpcurl(
            "INGEST", f"{SERVICE}/ListDocuments", {"lane": "default", "page_size": 2, "page_token": token}
        )
        assert code == 0, error
        pages += page["documents"]
        token = page.get("next_page_token", "")

    assert [document["document_id"] for document in pages[:3]] == [one["document_id"] for one in reversed(three)]


def test_a_document_ingested_between_two_pages_changes_nothing_behind(
    stack: LocalStack, three: list[dict[str, Any]]
) -> None:
    first = send(stack, "GET", "/api/documents?page_size=1").body
    ingest(stack, NAMES[2])  # the same again: no change
    between = ingest(stack, "library/wren.md")
    second = send(stack, "GET", f"/api/documents?page_size=1&page_token={first['next_page_token']}").body
    send(stack, "DELETE", f"/api/documents/{between['document_id']}")

    assert first["documents"][0]["source_url"] == NAMES[2]
    assert second["documents"][0]["source_url"] == NAMES[1]


def test_a_document_is_shown_over_rest_and_grpc(stack: LocalStack, three: list[dict[str, Any]]) -> None:
    document_id = three[0]["document_id"]

    shown = send(stack, "GET", f"/api/documents/{document_id}")
    code, called, error = stack.grpcurl("INGEST", f"{SERVICE}/GetDocument", {"document_id": document_id})

    assert (shown.status, shown.body["document"]) == (200, three[0])
    assert code == 0, error
    assert called["document"]["source_url"] == NAMES[0]
    assert re.fullmatch("[0-9a-f]{32}", document_id)


def test_a_deleted_document_is_found_nowhere(stack: LocalStack, three: list[dict[str, Any]]) -> None:
    path = f"/api/documents/{three[0]['document_id']}"
    assert NAMES[0] in found(stack, "heron")

    receipt = send(stack, "DELETE", path)

    assert receipt.status == 200
    assert receipt.body == {"document": three[0], "chunks_deleted": 1, "vectors_deleted": 1}
    assert NAMES[0] not in found(stack, "heron")
    assert NAMES[1] in found(stack, "heron")
    listed = send(stack, "GET", "/api/documents?page_size=1000").body["documents"]
    assert NAMES[0] not in {document["source_url"] for document in listed}
    for method in ("DELETE", "GET"):
        again = send(stack, method, path)
        assert (again.status, again.body["code"], again.body["reason"]) == (404, "NOT_FOUND", "NOT_FOUND")
    answer = stack.post("/api/answer", {"question": "When is the heron of the archive fed?"}).body
    assert NAMES[0] not in json.dumps(answer)


def test_grpc_deletes_once(stack: LocalStack, three: list[dict[str, Any]]) -> None:
    request = {"document_id": three[1]["document_id"]}

    code, receipt, error = stack.grpcurl("INGEST", f"{SERVICE}/DeleteDocument", request)
    second, _, refused = stack.grpcurl("INGEST", f"{SERVICE}/DeleteDocument", request)

    assert code == 0, error
    assert (receipt["chunks_deleted"], receipt["vectors_deleted"]) == (1, 1)
    assert second != 0
    assert "Code: NotFound" in refused
    assert NAMES[1] not in found(stack, "otter")


def test_a_deleted_document_may_come_again(stack: LocalStack, three: list[dict[str, Any]]) -> None:
    send(stack, "DELETE", f"/api/documents/{three[0]['document_id']}")

    again = ingest(stack, NAMES[0])

    assert (again["document_id"], again["version"]) == (three[0]["document_id"], 1)
    assert NAMES[0] in found(stack, "heron")


def test_lanes_are_listed_with_their_documents(stack: LocalStack, three: list[dict[str, Any]]) -> None:
    lanes = send(stack, "GET", "/api/lanes")
    listed = send(stack, "GET", "/api/documents?lane=default&page_size=1000").body["documents"]
    code, called, error = stack.grpcurl("INGEST", f"{SERVICE}/ListLanes", {})

    (default,) = [lane for lane in lanes.body["lanes"] if lane["name"] == "default"]
    assert default["document_count"] == len(listed)
    assert default["chunk_tokens"] > default["overlap_tokens"]
    assert code == 0, error
    assert called["lanes"][0]["document_count"] == len(listed)


@pytest.mark.parametrize(
    ("path", "method", "request_", "code", "reason"),
    [
        (f"/api/documents/{NOWHERE}", "GetDocument", {"document_id": NOWHERE}, "NOT_FOUND", "NOT_FOUND"),
        (
            "/api/documents?page_token=made-up",
            "ListDocuments",
            {"page_token": "made-up"},
            "INVALID_ARGUMENT",
            "FIELD_INVALID",
        ),
        (
            "/api/documents?page_size=-1",
            "ListDocuments",
            {"page_size": -1},
            "INVALID_ARGUMENT",
            "FIELD_OUT_OF_RANGE",
        ),
        ("/api/documents?lane=nowhere", "ListDocuments", {"lane": "nowhere"}, "NOT_FOUND", "LANE_UNKNOWN"),
        ("/api/documents?lane=%00", "ListDocuments", {"lane": "\0"}, "INVALID_ARGUMENT", "FIELD_INVALID"),
        ("/api/lanes?page_size=-5", "ListLanes", {"page_size": -5}, "INVALID_ARGUMENT", "FIELD_OUT_OF_RANGE"),
        ("/api/lanes?page_token=x", "ListLanes", {"page_token": "x"}, "INVALID_ARGUMENT", "FIELD_INVALID"),
    ],
)
def test_a_bad_call_is_refused_by_one_name_over_both(
    stack: LocalStack, path: str, method: str, request_: dict[str, Any], code: str, reason: str
) -> None:
    reply = send(stack, "GET", path)
    exit_code, _, error = stack.grpcurl("INGEST", f"{SERVICE}/{method}", request_)

    assert (reply.body["code"], reply.body["reason"]) == (code, reason)
    assert set(reply.body) == {"error", "code", "reason"}
    assert exit_code != 0
    assert re.search(rf'"reason":\s*"{reason}"', error), error


def test_bytes_that_are_no_text_are_refused_in_a_query(stack: LocalStack) -> None:
    reply = send(stack, "GET", "/api/documents?lane=%ff")

    assert (reply.status, reply.body["code"]) == (400, "INVALID_ARGUMENT")


def upload(stack: LocalStack, query: str, body: bytes) -> tuple[int, list[dict[str, Any]]]:
    headers = {"content-type": "text/plain"}
    url = f"{stack.url}/api/documents/upload{query}"
    response = httpx2.post(url, content=body, headers=headers, timeout=60, trust_env=False)
    return response.status_code, [json.loads(line) for line in response.text.splitlines()]


def test_a_document_is_uploaded_as_it_lies_on_disk(stack: LocalStack) -> None:
    body = b"The marmot of the archive is fed at nine every morning by the keeper.\n"
    status, lines = upload(stack, "?filename=marmot.txt&title=The+marmot", body)
    again = upload(stack, "?filename=marmot.txt&title=The+marmot", body)[1][-1]["result"]

    result = lines[-1]["result"]
    assert (status, lines[-1]["received_bytes"], result["outcome"]) == (200, len(body), "CREATED")
    assert (result["document"]["source_url"], result["document"]["title"]) == ("marmot.txt", "The marmot")
    assert again["outcome"] == "UNCHANGED"
    assert "marmot.txt" in found(stack, "marmot")
    assert send(stack, "DELETE", f"/api/documents/{result['document']['document_id']}").body["chunks_deleted"] == 1


def test_an_upload_that_cannot_begin_has_a_status(stack: LocalStack) -> None:
    status, (body,) = upload(stack, "?filename=a.txt&lane=nowhere", b"text")

    assert (status, body["reason"]) == (404, "LANE_UNKNOWN")


def test_an_upload_over_the_limit_of_a_text_is_refused_by_name(stack: LocalStack) -> None:
    """Before or after the reply has begun, as it happens to be."""
    body = upload(stack, "?filename=a.txt", b"word " * (20 * 2**20 // 5 + 1))[1][-1]

    refusal = body if "reason" in body else body["error"]
    assert (refusal["code"], refusal["reason"]) == ("INVALID_ARGUMENT", "DOCUMENT_TOO_LARGE")
