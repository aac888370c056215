from pathlib import Path
from typing import Any

import grpc
import pytest

from services.cli.stack import gateway as stack_gateway
from tests.gateway.envoy import run_gateway

QUESTION = {"question": "May I?"}
STATUS = {
    "CANCELLED": 499,
    "UNKNOWN": 500,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DATA_LOSS": 500,
    "UNAUTHENTICATED": 401,
}


@pytest.mark.parametrize("code", STATUS)
async def test_a_status_of_a_service_keeps_its_code_reason_and_message(
    gateway: Any, script: Any, failure: Any, code: str
) -> None:
    """F57."""
    message = 'Say "more", é\n{"reason":"FAKE"} 100 %.'
    script.fail("Answer", grpc.StatusCode[code], message, "SOME_REASON")

    response = await gateway.post("/api/answer", QUESTION)

    failure(response, STATUS[code], code, "SOME_REASON")
    assert response.json()["error"] == message


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("INTERNAL", "INTERNAL"),
        ("UNKNOWN", "INTERNAL"),
        ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE"),
        ("DEADLINE_EXCEEDED", "UPSTREAM_TIMEOUT"),
        ("UNIMPLEMENTED", "NOT_IMPLEMENTED"),
    ],
)
async def test_a_text_that_is_not_ours_does_not_leave(
    gateway: Any, script: Any, failure: Any, code: str, reason: str
) -> None:
    """A status without our ErrorInfo was written by a library, and may quote what a user sent."""
    forged = 'CANARY {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"FAKE","domain":"attest"}'
    script.fail("Answer", grpc.StatusCode[code], forged)

    response = await gateway.post("/api/answer", QUESTION)

    failure(response, STATUS[code], code, reason)
    assert "CANARY" not in response.text


@pytest.mark.parametrize(
    ("request_", "status", "reason"),
    [
        (b"GARBAGE\r\n\r\n", b"400", b"MALFORMED_REQUEST"),
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"400", b"MALFORMED_REQUEST"),
        (
            b"GET http://localhost/healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
            b"404",
            b"ROUTE_UNKNOWN",
        ),
        (
            b"POST /api/documents HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"content-length: 16777217\r\n\r\n",
            b"413",
            b"REQUEST_TOO_LARGE",
        ),
        (b"GET /healthz HTTP/1.0\r\nhost: localhost\r\n\r\n", b"426", b"PROTOCOL_UNSUPPORTED"),
        (b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx_y: 1\r\n\r\n", b"400", b"MALFORMED_REQUEST"),
        (b"GET /healthz HTTP/1.1\r\nhost: a\r\nx: " + b"a" * 20_000 + b"\r\n\r\n", b"431", b"HEADERS_TOO_LARGE"),
        (b"GET /healthz HTTP/1.1\r\nhost: a\r\n" + b"x: a\r\n" * 80 + b"\r\n", b"431", b"HEADERS_TOO_LARGE"),
        (
            b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
            b"403",
            b"UPGRADE_REFUSED",
        ),
        (
            b"POST /api/answer HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
            b"400",
            b"MALFORMED_REQUEST",
        ),
        (b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconn", b"408", b"REQUEST_TIMEOUT"),
    ],
    ids=lambda value: value.decode()[:30] if isinstance(value, bytes) else value,
)
async def test_what_is_hardly_http_gets_the_same_shape(
    gateway: Any, request_: bytes, status: bytes, reason: bytes
) -> None:
    """F58."""
    head, _, body = (await gateway.raw(request_)).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 " + status)
    assert b"\r\ncontent-type: application/json\r\n" in head
    assert b"\r\nx-content-type-options: nosniff\r\n" in head
    assert body.startswith(b'{"error":"')
    assert body.endswith(b'"reason":"' + reason + b'"}\n')


@pytest.mark.parametrize("path", [b"/nope", b"/api/answer", b"/healthz", b"/api/documents"])
async def test_a_refused_head_leaves_the_connection_in_step(gateway: Any, path: bytes) -> None:
    """Bytes of a body would be read as the beginning of the next reply."""
    head = b"HEAD " + path + b" HTTP/1.1\r\nhost: localhost\r\n\r\n"
    following = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"

    refused, _, rest = (await gateway.raw(head + following)).partition(b"\r\n\r\n")

    assert refused.startswith((b"HTTP/1.1 404", b"HTTP/1.1 405"))
    assert rest.startswith(b"HTTP/1.1 200")


async def test_a_service_that_is_down_is_named_so_and_gone_from_readiness(
    gateway: Any, upstream: Any, failure: Any, wait_until: Any
) -> None:
    """F58: and the other services go on, and nothing of Envoy's own text leaves."""
    async with upstream.out_of_service("answer"):
        await wait_until(lambda: gateway.status_is("/readyz", 503))

        failure(await gateway.get("/readyz"), 503, "UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
        failure(await gateway.post("/api/answer", QUESTION), 503, "UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
        assert (await gateway.post("/api/search", {"query": "x"})).status_code == 200
        live = await gateway.get("/healthz")
        assert (live.status_code, live.json()) == (200, {"status": "ok"})
    await wait_until(lambda: gateway.status_is("/readyz", 200))


@pytest.mark.parametrize(
    ("path", "method", "tries"),
    [("/api/answer", "Answer", 1), ("/api/search", "Search", 3), ("/api/documents", "IngestDocument", 1)],
)
async def test_only_searches_are_tried_again(gateway: Any, script: Any, path: str, method: str, tries: int) -> None:
    """F74: answer has tried retrieval again by itself when it says UNAVAILABLE."""
    script.fail(method, grpc.StatusCode.UNAVAILABLE, "Wait.", "SERVICE_BUSY")

    assert (await gateway.post(path, {})).status_code == 503
    assert len(script.calls) == tries


@pytest.mark.parametrize(("given", "least", "most"), [(None, 25, 30), ("7S", 5, 7), ("5H", 115, 120), ("junk", 25, 30)])
async def test_a_service_gets_a_deadline_within_bounds(
    gateway: Any, script: Any, given: str | None, least: float, most: float
) -> None:
    await gateway.post("/api/answer", QUESTION, headers={"grpc-timeout": given} if given else {})

    assert least < script.calls[0].seconds_left < most + 1


async def test_a_document_may_take_the_longest_deadline(gateway: Any, script: Any) -> None:
    await gateway.post("/api/documents", {"source_url": "a.md", "content": "a"})

    assert 115 < script.calls[0].seconds_left < 121


async def test_a_deadline_that_passes_is_named_so(gateway: Any, script: Any, failure: Any) -> None:
    script.hang("Answer")

    response = await gateway.post("/api/answer", QUESTION, headers={"grpc-timeout": "200m"})

    failure(response, 504, "DEADLINE_EXCEEDED", "UPSTREAM_TIMEOUT")


async def test_the_gateway_gives_up_on_a_service_that_ignores_its_deadline(
    upstream: Any, failure: Any, altered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F62: the gateway's patience, here 29 seconds shorter than the deadline in place of 5 longer."""
    source = altered("edge.lua", "GATEWAY_GRACE_S = 30, 120, 5", "GATEWAY_GRACE_S = 30, 120, -29")
    monkeypatch.setattr(stack_gateway, "SOURCE", source)
    upstream.script.hang("Answer")

    async for gateway in run_gateway(upstream, tmp_path):
        response = await gateway.post("/api/answer", QUESTION)

    failure(response, 504, "DEADLINE_EXCEEDED", "UPSTREAM_TIMEOUT")
