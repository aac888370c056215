"""Documents over REST: paths, methods, queries, budgets."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from services.cli.stack import gateway as stack_gateway
from tests.gateway.envoy import run_gateway

ID = "0123456789abcdef" * 2
ONE = f"/api/documents/{ID}"
CALLS = [
    ("GET", "/api/documents", "ListDocuments"),
    ("GET", "/api/lanes", "ListLanes"),
    ("GET", ONE, "GetDocument"),
    ("DELETE", ONE, "DeleteDocument"),
]


@pytest.mark.parametrize(("method", "path", "rpc"), CALLS)
async def test_a_call_reaches_its_service(gateway: Any, script: Any, method: str, path: str, rpc: str) -> None:
    response = await gateway.send(method, path)

    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    (call,) = script.calls
    assert (call.method, getattr(call.request, "document_id", ID)) == (rpc, ID)
    assert 25 < call.seconds_left < 31


async def test_a_list_takes_its_query(gateway: Any, script: Any) -> None:
    response = await gateway.get("/api/documents?lane=h%72&page_size=7&page_token=a+b%2Bc%C3%A9")

    assert response.json() == {"documents": [], "next_page_token": ""}
    request = script.calls[0].request
    assert (request.lane, request.page_size, request.page_token) == ("hr", 7, "a b+cé")


async def test_either_spelling_of_a_parameter_is_taken(gateway: Any, script: Any) -> None:
    assert (await gateway.get("/api/lanes?pageSize=3&page_token=x")).status_code == 200
    assert (script.calls[0].request.page_size, script.calls[0].request.page_token) == (3, "x")


@pytest.mark.parametrize("path", ["/api/documents", ONE, "/api/lanes"])
async def test_what_links_carry_for_statistics_is_ignored(gateway: Any, script: Any, path: str) -> None:
    """F55."""
    assert (await gateway.get(f"{path}?utm_source=x&utm_medium=%zz&&utm_source=y")).status_code == 200
    assert len(script.calls) == 1


@pytest.mark.parametrize(
    ("path", "known"),
    [("/api/lanes?lane=a", "page_size, page_token."), (f"{ONE}?a=1", "none.")],
)
async def test_who_guessed_a_parameter_is_told_those_that_are_known(gateway: Any, path: str, known: str) -> None:
    assert (await gateway.get(path)).json()["error"].endswith(f"It knows: {known}")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/api/documents?CANARY=1", "FIELD_UNKNOWN"),
        ("/api/documents?utm=1", "FIELD_UNKNOWN"),
        ("/api/documents?Lane=a", "FIELD_UNKNOWN"),
        ("/api/documents?l%61ne=a", "FIELD_UNKNOWN"),
        ("/api/documents?=a", "FIELD_UNKNOWN"),
        ("/api/documents?page_size.x=1", "FIELD_UNKNOWN"),
        (f"{ONE}?document_id=1", "FIELD_UNKNOWN"),
        ("/api/lanes?lane=CANARY", "FIELD_UNKNOWN"),
        ("/api/documents?page_size=1&pageSize=2", "FIELD_DUPLICATE"),
        ("/api/documents?lane=a&lane=CANARY", "FIELD_DUPLICATE"),
        ("/api/documents?lane=%", "MALFORMED_REQUEST"),
        ("/api/documents?lane=%zzCANARY", "MALFORMED_REQUEST"),
        ("/api/documents?page_size=CANARY", "MALFORMED_REQUEST"),
        ("/api/documents?page_size=99999999999", "MALFORMED_REQUEST"),
        ("/api/documents?page_size=1.5", "MALFORMED_REQUEST"),
    ],
)
async def test_a_query_that_is_not_exactly_the_message_is_refused(
    gateway: Any, script: Any, failure: Any, path: str, reason: str
) -> None:
    """F55, F58."""
    response = await gateway.get(path)

    failure(response, 400, "INVALID_ARGUMENT", reason)
    assert "CANARY" not in response.text
    assert not script.calls


@pytest.mark.parametrize(
    "path",
    [
        "/api/documents/",
        "/api/lanes/",
        "/api//lanes",
        "//api/documents",
        "/api/Documents",
        f"{ONE}/",
        f"{ONE}/x",
        f"/api/documents//{ID}",
        f"/api/documents/{ID[:-1]}",
        f"/api/documents/{ID}0",
        f"/api/documents/{'0' * 65}",
        f"/api/documents/{'0' * 4000}",
        f"/api/documents/{ID.upper()}",
        f"/api/documents/{ID[:-1]}g",
        f"/api/documents/{ID};x",
        f"/api/documents/{ID[:-1]}%00",
        f"/api/documents/{ID[:-1]}%0a",
        "/api/documents/é",
        "/api/documents/..",
        "/api/documents/uploads",
    ],
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_path_that_is_no_document_is_not_found(
    gateway: Any, script: Any, failure: Any, method: str, path: str
) -> None:
    response = await gateway.send(method, path)

    status, reason = (400, "MALFORMED_REQUEST") if "%00" in path else (404, "ROUTE_UNKNOWN")
    failure(response, status, "INVALID_ARGUMENT" if status == 400 else "NOT_FOUND", reason)
    assert not script.calls


@pytest.mark.parametrize("path", [f"/api/documents/{ID[:-3]}%2F", "/api/documents%2F" + ID, f"/api/documents/%5c{ID}"])
async def test_an_escaped_slash_is_refused(gateway: Any, script: Any, failure: Any, path: str) -> None:
    failure(await gateway.get(path), 400, "INVALID_ARGUMENT", "MALFORMED_REQUEST")
    assert not script.calls


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/documents", "GET, POST"),
        ("/api/documents?lane=a", "GET, POST"),
        (ONE, "GET, DELETE"),
        ("/api/documents/upload", "POST"),
        ("/api/lanes", "GET"),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "DELETE", "GET", "POST"])
async def test_a_wrong_method_is_named(
    gateway: Any, script: Any, failure: Any, method: str, path: str, allowed: str
) -> None:
    if method in allowed:
        return
    response = await gateway.send(method, path)

    failure(response, 405, "UNIMPLEMENTED", "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == allowed
    assert not script.calls


async def test_head_is_told_which_methods_there_are(gateway: Any, script: Any) -> None:
    response = await gateway.send("HEAD", "/api/documents")

    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")


@pytest.mark.parametrize(("method", "path", "rpc"), CALLS)
async def test_a_body_is_refused_where_there_is_none(
    gateway: Any, script: Any, failure: Any, method: str, path: str, rpc: str
) -> None:
    failure(await gateway.send(method, path, content=b"{}"), 400, "INVALID_ARGUMENT", "MALFORMED_REQUEST")
    assert not script.calls


async def test_an_empty_body_is_none(gateway: Any) -> None:
    async def body() -> AsyncIterator[bytes]:
        for piece in ():
            yield piece

    assert (await gateway.send("GET", "/api/lanes?page_size=3", content=body())).status_code == 200


async def test_a_body_of_unknown_length_is_refused_where_there_is_none(gateway: Any, script: Any, failure: Any) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"{}"

    failure(await gateway.send("GET", "/api/lanes", content=body()), 400, "INVALID_ARGUMENT", "MALFORMED_REQUEST")
    assert not script.calls


@pytest.mark.parametrize(("method", "path", "rpc"), CALLS)
async def test_a_failure_of_the_service_keeps_its_name(
    gateway: Any, script: Any, failure: Any, method: str, path: str, rpc: str
) -> None:
    """F57."""
    script.fail(rpc, grpc.StatusCode.NOT_FOUND, "There is no such document.", "NOT_FOUND")

    response = await gateway.send(method, path)

    failure(response, 404, "NOT_FOUND", "NOT_FOUND")
    assert response.json()["error"] == "There is no such document."


@pytest.mark.parametrize(("method", "path", "rpc"), CALLS)
async def test_what_only_reads_is_tried_again(gateway: Any, script: Any, method: str, path: str, rpc: str) -> None:
    """F74."""
    script.fail(rpc, grpc.StatusCode.UNAVAILABLE, "Wait.", "SERVICE_BUSY")

    assert (await gateway.send(method, path)).status_code == 503
    assert len(script.calls) == (1 if method == "DELETE" else 3)


async def test_the_library_has_a_budget_of_its_own_for_rest_and_grpc(
    limited_gateway: Any, script: Any, failure: Any
) -> None:
    """Five documents a minute here, and apart from them five looks into the library."""
    for method, path, _ in CALLS:
        assert (await limited_gateway.send(method, path)).status_code == 200
    assert (await limited_gateway.grpc("attest.ingest.v1.IngestService/ListDocuments"))[0] == "OK"

    for method, path, _ in CALLS:
        failure(await limited_gateway.send(method, path), 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED")
    for rpc in ("GetDocument", "ListDocuments", "DeleteDocument", "ListLanes"):
        assert (await limited_gateway.grpc(f"attest.ingest.v1.IngestService/{rpc}"))[0] == "RESOURCE_EXHAUSTED"
    assert (await limited_gateway.post("/api/documents", {})).status_code == 200
    assert (await limited_gateway.grpc("attest.ingest.v1.IngestService/ListEmbeddingSpaces"))[0] == "UNIMPLEMENTED"


async def test_a_script_that_breaks_refuses_the_request(
    upstream: Any, failure: Any, altered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = "local function fault_of(handle)\n"
    monkeypatch.setattr(stack_gateway, "SOURCE", altered("strict_query.lua", opening, opening + "error('broken')\n"))

    async for gateway in run_gateway(upstream, tmp_path):
        failure(await gateway.get("/api/documents"), 500, "INTERNAL", "INTERNAL")

    assert not upstream.script.calls


async def test_nothing_of_a_query_is_written_down(gateway: Any, wait_until: Any) -> None:
    log = gateway.folder / "access.log"
    word = "CANARYQUERY"
    await gateway.get(f"/api/documents?lane={word}")
    await gateway.get(f"/api/documents?{word}=1")
    await gateway.get(f"/api/documents/{word}")
    last = (await gateway.get(f"/api/documents?page_token={word}")).headers["x-request-id"]

    async def written() -> bool:
        return last in log.read_text()

    await wait_until(written)
    assert word not in log.read_text()
    assert word not in (gateway.folder / "gateway.log").read_text()
