"""Who and what may come in: hosts, headers, budgets; and what is written down of it."""

import json
from typing import Any

import pytest

QUESTION = {"question": "May I?"}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:99", "attest.example:80"])
async def test_an_allowed_host_is_served_on_any_port(gateway: Any, host: str) -> None:
    assert (await gateway.post("/api/answer", QUESTION, headers={"host": host})).status_code == 200


@pytest.mark.parametrize("path", ["/api/answer", "/healthz", "/readyz", "/nope"])
@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "localhost:x", "evil:localhost"])
async def test_any_other_host_is_refused(gateway: Any, script: Any, failure: Any, path: str, host: str) -> None:
    """A page that rebinds its own name to this machine sends that name."""
    response = await gateway.post(path, QUESTION, headers={"host": host})

    failure(response, 421, "PERMISSION_DENIED", "HOST_NOT_ALLOWED")
    assert not script.calls


async def test_headers_of_our_own_do_not_come_from_outside(gateway: Any, script: Any) -> None:
    headers = {
        "x-attest-identity": "forged",
        "X-Attest-Local-Reply": "500 forged",
        "x-envoy-original-path": "/forged",
        "x-envoy-upstream-rq-timeout-ms": "1",
        "x-envoy-anything": "forged",
        "x-request-id": "forged",
    }

    await gateway.post("/api/answer", QUESTION, headers=headers)

    metadata = script.calls[0].metadata
    assert not [name for name in metadata if name.startswith("x-attest-")]
    assert not [value for value in metadata.values() if "forged" in value]


async def test_a_valid_trace_goes_on(gateway: Any, script: Any) -> None:
    await gateway.post("/api/answer", QUESTION, headers={"traceparent": TRACE, "tracestate": "a=b"})

    metadata = script.calls[0].metadata
    assert (metadata["traceparent"], metadata["tracestate"]) == (TRACE, "a=b")


@pytest.mark.parametrize(
    "trace", ["junk", TRACE.upper(), TRACE.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32), TRACE + "-x"]
)
async def test_an_invalid_trace_does_not(gateway: Any, script: Any, trace: str) -> None:
    await gateway.post("/api/answer", QUESTION, headers={"traceparent": trace, "tracestate": "a=b"})

    assert not {"traceparent", "tracestate"} & script.calls[0].metadata.keys()


async def test_one_budget_holds_for_rest_and_grpc_and_each_route_has_its_own(
    limited_gateway: Any, script: Any, failure: Any
) -> None:
    """F58, F66: three questions a minute here, however they come, and whatever the caller says of its address."""
    forged = {"x-forwarded-for": "203.0.113.7", "x-real-ip": "203.0.113.7"}
    statuses = [(await limited_gateway.post("/api/answer", QUESTION)).status_code for _ in range(2)]
    assert (await limited_gateway.grpc("attest.answer.v1.AnswerService/Answer"))[0] == "OK"

    refused = await limited_gateway.post("/api/answer", QUESTION, headers=forged)

    failure(refused, 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED")
    assert statuses == [200, 200]
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.headers["x-ratelimit-limit"] == "3"
    assert refused.headers["x-ratelimit-remaining"] == "0"
    for method in ("Answer", "StreamAnswer"):
        code, text = await limited_gateway.grpc(f"attest.answer.v1.AnswerService/{method}")
        assert (code, text.split(":")[0]) == ("RESOURCE_EXHAUSTED", "Too many requests")
    assert len(script.calls) == 3
    assert (await limited_gateway.post("/api/search", {"query": "x"})).status_code == 200
    documents = [(await limited_gateway.post("/api/documents", {})).status_code for _ in range(6)]
    assert documents == [200] * 5 + [429]
    assert (await limited_gateway.get("/healthz")).status_code == 200


async def test_another_client_has_a_budget_of_its_own(limited_gateway: Any) -> None:
    """F66: client A floods, client B is still served."""
    flood = [(await limited_gateway.post("/api/answer", QUESTION)).status_code for _ in range(4)]

    other = await limited_gateway.post("/api/answer", QUESTION, client_address="127.0.0.2")

    assert flood[-1] == 429
    assert other.status_code == 200


async def test_nothing_that_was_asked_is_written_down(gateway: Any, script: Any, wait_until: Any) -> None:
    """Path, query, headers and bodies, of good calls and of refused ones."""
    log = gateway.folder / "access.log"
    word = "CANARYWORD"
    question = {"question": word}
    last = [
        await gateway.post("/api/answer", question),
        await gateway.post(f"/api/answer?q={word}", question),
        await gateway.post(f"/api/{word}", question),
        await gateway.post("/api/answer", {"top_k": word}),
        await gateway.post("/api/answer", {word: 1}),
        await gateway.post(f"/api/answer?q={word}", {"question": word * 8000}),
        await gateway.post("/api/answer", question, headers={"x-word": word, "content-type": word}),
        await gateway.get("/healthz", headers={"host": word}),
    ][-1].headers["x-request-id"]

    async def written() -> bool:
        return last in log.read_text()

    await wait_until(written)
    assert word not in log.read_text()
    assert word not in (gateway.folder / "gateway.log").read_text()
    first = json.loads(log.read_text().splitlines()[0])
    assert {"time", "route", "status", "duration_ms", "request_id"} <= first.keys()


async def test_the_admin_pages_are_read_only(gateway: Any) -> None:
    assert (await gateway.admin("POST", "/quitquitquit")).status_code == 403
    assert (await gateway.admin("GET", "/config_dump")).status_code == 403
    assert (await gateway.admin("GET", "/ready")).status_code == 200
