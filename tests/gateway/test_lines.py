"""What single lines of the gateway's configuration do, where no other test would notice them."""

import asyncio
import json
import struct
from typing import Any

import pytest

from attest.answer.v1 import answer_service_pb2
from tests.gateway.test_grpc import public_methods

QUESTION = {"question": "May I?"}
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
OF_A_REPLACED_REPLY = ("content-security-policy", "x-content-type-options", "cache-control")
LOG_FIELDS = {
    "time",
    "route",
    "protocol",
    "status",
    "grpc_status",
    "details",
    "flags",
    "duration_ms",
    "bytes_in",
    "bytes_out",
    "client_ip",
    "request_id",
    "upstream",
}


@pytest.mark.parametrize("name", SECURITY_HEADERS)
async def test_each_security_header_is_on_good_and_refused_replies(gateway: Any, name: str) -> None:
    replies = [await gateway.post("/api/answer", QUESTION), await gateway.get("/nope")]

    assert [reply.headers.get(name) for reply in replies] == [SECURITY_HEADERS[name]] * 2


@pytest.mark.parametrize("name", OF_A_REPLACED_REPLY)
async def test_a_reply_that_replaces_a_response_has_them_too(gateway: Any, script: Any, name: str) -> None:
    """It passes no filter on its way out."""
    script.reply("Search", space_id="x" * 5 * 2**20)

    reply = await gateway.post("/api/search", {"query": "x"})

    assert (reply.status_code, reply.headers.get(name)) == (500, SECURITY_HEADERS[name])


@pytest.mark.parametrize("name", ["server", "x-powered-by", "x-envoy-anything"])
async def test_a_service_cannot_tell_a_client_what_it_runs_on(gateway: Any, script: Any, name: str) -> None:
    async def talkative(_: Any, context: Any) -> Any:
        await context.send_initial_metadata(((name, "machinery"),))
        return answer_service_pb2.AnswerResponse()

    script.behaviours["Answer"] = talkative

    assert name not in (await gateway.post("/api/answer", QUESTION)).headers


async def test_a_service_does_not_hear_what_envoy_tells_itself(gateway: Any, script: Any) -> None:
    await gateway.post("/api/answer", QUESTION)

    assert "x-envoy-expected-rq-timeout-ms" not in script.calls[0].metadata


async def test_a_reply_has_a_request_id_of_the_gateways_own(gateway: Any) -> None:
    given = "11111111-1111-4111-8111-111111111111"

    reply = await gateway.post("/api/answer", QUESTION, headers={"x-request-id": given})

    assert len(reply.headers["x-request-id"]) == 36
    assert reply.headers["x-request-id"] != given


async def test_dot_segments_are_resolved_before_a_route_is_chosen(gateway: Any) -> None:
    request = b"GET /nothing/../healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"

    assert (await gateway.raw(request)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health_is_served(gateway: Any, path: str) -> None:
    assert (await gateway.get(path)).status_code == 200


@pytest.mark.parametrize("path", ["/ready", "/server_info", "/clusters", "/listeners", "/stats", "/stats/prometheus"])
async def test_each_admin_page_is_there(gateway: Any, path: str) -> None:
    assert (await gateway.admin("GET", path)).status_code == 200


@pytest.mark.parametrize("method", public_methods())
async def test_each_public_method_has_a_route(gateway: Any, method: str) -> None:
    assert (await gateway.grpc(method))[1] != (await gateway.grpc("nothing.here/X"))[1]


@pytest.mark.parametrize(
    ("path", "body", "service"),
    [
        ("/api/answer", QUESTION, "answer"),
        ("/api/search", {"query": "x"}, "retrieval"),
        ("/api/documents", {}, "ingest"),
    ],
)
async def test_the_log_names_the_route_and_the_service(
    gateway: Any, wait_until: Any, path: str, body: dict[str, str], service: str
) -> None:
    log = gateway.folder / "access.log"
    request_id = (await gateway.post(path, body)).headers["x-request-id"]

    async def written() -> bool:
        return request_id in log.read_text()

    await wait_until(written)
    line = json.loads(next(line for line in log.read_text().splitlines() if request_id in line))
    assert line.keys() == LOG_FIELDS
    assert (line["route"], line["upstream"], line["status"]) == (path.rpartition("/")[2], service, 200)
    assert line["client_ip"] == "127.0.0.1"


@pytest.fixture
async def http2_greeting(gateway: Any) -> dict[str, int]:
    """What Envoy offers a client of HTTP/2: SETTINGS by number, and the window of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0")
    offered: dict[str, int] = {}
    async with asyncio.timeout(5):
        while "window" not in offered:
            head = await reader.readexactly(9)
            length, kind = int.from_bytes(head[:3]), head[3]
            frame = await reader.readexactly(length)
            if kind == 4:
                offered |= {str(key): value for key, value in struct.iter_unpack(">HI", frame)}
            elif kind == 8:
                offered["window"] = int.from_bytes(frame) + 65535
    writer.close()
    await writer.wait_closed()
    return offered


@pytest.mark.parametrize(
    ("what", "value"), [("3", 100), ("4", 65536), ("window", 1048576)], ids=["streams", "stream-window", "window"]
)
async def test_http2_is_offered_within_bounds(http2_greeting: dict[str, int], what: str, value: int) -> None:
    assert http2_greeting[what] == value
