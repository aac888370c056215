import json
from pathlib import Path
from typing import Any

import pytest

from services.cli.stack import gateway as stack_gateway
from tests.gateway.envoy import run_gateway

ROUTES = [
    ("/api/answer", {"question": "May I?"}, "Answer"),
    ("/api/search", {"query": "leave"}, "Search"),
    ("/api/documents", {"source_url": "a.md", "content": "text"}, "IngestDocument"),
]
QUESTION = {"question": "May I?"}


@pytest.mark.parametrize(("path", "body", "method"), ROUTES)
async def test_a_rest_call_reaches_its_service(
    gateway: Any, script: Any, path: str, body: dict[str, str], method: str
) -> None:
    response = await gateway.post(path, body)

    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    (call,) = script.calls
    assert call.method == method
    assert all(getattr(call.request, name) == value for name, value in body.items())


async def test_a_reply_keeps_proto_names_and_prints_defaults(gateway: Any) -> None:
    """F65: false, 0 and empty lists are there to be read."""
    reply = (await gateway.post("/api/answer", QUESTION)).json()

    assert reply == {"outcome": "ANSWERED", "answer": "Yes. [1]", "sources": [], "sentences": []}


@pytest.mark.parametrize(
    "path",
    [
        "/api/answer/",
        "//api/answer",
        "/api//answer",
        "/API/answer",
        "/api/answer;x",
        "/api/answer/stream",
        "/api/documents/upload/",
        "/api/citations/verify",
        "/attest.answer.v1.AnswerService/Answer",
        "/attest.retrieval.v1.RetrievalService/EmbedTexts",
        "/",
    ],
)
async def test_a_path_that_is_not_served_reaches_no_service(gateway: Any, script: Any, failure: Any, path: str) -> None:
    response = await gateway.post(path, QUESTION)

    failure(response, 404, "NOT_FOUND", "ROUTE_UNKNOWN")
    assert not script.calls


async def test_an_escaped_slash_is_refused(gateway: Any, script: Any, failure: Any) -> None:
    failure(await gateway.post("/api%2Fanswer", QUESTION), 400, "INVALID_ARGUMENT", "MALFORMED_REQUEST")
    assert not script.calls


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/api/answer", "POST"), ("OPTIONS", "/api/search", "POST"), ("POST", "/healthz", "GET")],
)
async def test_a_wrong_method_is_named(gateway: Any, failure: Any, method: str, path: str, allowed: str) -> None:
    response = await gateway.send(method, path)

    failure(response, 405, "UNIMPLEMENTED", "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "application/json-patch", "application/grpc-web"]
)
async def test_only_json_is_taken(gateway: Any, script: Any, failure: Any, media: str) -> None:
    response = await gateway.post("/api/answer", QUESTION, headers={"content-type": media})

    failure(response, 415, "INVALID_ARGUMENT", "MEDIA_TYPE_UNSUPPORTED")
    assert not script.calls


async def test_json_may_name_its_charset(gateway: Any) -> None:
    headers = {"content-type": "application/json; charset=utf-8"}

    assert (await gateway.post("/api/answer", QUESTION, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "MALFORMED_REQUEST"),
        ("{", "MALFORMED_REQUEST"),
        ("[]", "MALFORMED_REQUEST"),
        ('"CANARY"', "MALFORMED_REQUEST"),
        ("{'question': 'CANARY'}", "MALFORMED_REQUEST"),
        ('{question: "CANARY"}', "MALFORMED_REQUEST"),
        ('{"question": "CANARY",}', "MALFORMED_REQUEST"),
        ('{"question": "CANARY"}{"question": "y"}', "MALFORMED_REQUEST"),
        ('{"question": "CANARY"]', "MALFORMED_REQUEST"),
        ('{"question": "x", "min_similarity": NaN}', "MALFORMED_REQUEST"),
        ('{"question": "x", "top_k": "CANARY"}', "MALFORMED_REQUEST"),
        ('{"question": "x", "top_k": 99999999999}', "MALFORMED_REQUEST"),
        ('{"question": "\\ud800 CANARY"}', "TEXT_MALFORMED"),
        ('{"question": "CANARY \\uDC00"}', "TEXT_MALFORMED"),
        ('{"question": "\\ud83d\\ud83d\\ude00"}', "TEXT_MALFORMED"),
        ('{"question": "\\ud83d \\ude00"}', "TEXT_MALFORMED"),
        ('{"question": "\\ud83d\\n"}', "TEXT_MALFORMED"),
        (b'{"question": "CANARY \xff"}', "MALFORMED_REQUEST"),
        ('{"history": ' + '{"a": ' * 40 + "1" + "}" * 41, "MALFORMED_REQUEST"),
        ('{"question": "x", "CANARY": 1}', "FIELD_UNKNOWN"),
        ('{"qu\\u0065stion": "x"}', "FIELD_UNKNOWN"),
        ('{"question": "x", "question": "CANARY"}', "FIELD_DUPLICATE"),
        ('{"question": "x", "lanes": [null]}', "MALFORMED_REQUEST"),
        ('{"question": "x", "lanes": ["CANARY", [ ]]}', "MALFORMED_REQUEST"),
        ('{"question": "x", "history": [[]]}', "MALFORMED_REQUEST"),
        ('{"top_k": 1, "question": "x", "topK": 2}', "FIELD_DUPLICATE"),
    ],
)
async def test_a_body_that_is_not_exactly_the_message_is_refused(
    gateway: Any, script: Any, failure: Any, body: str | bytes, reason: str
) -> None:
    """F55, F58: nothing is dropped in silence, and nothing that was sent is quoted."""
    response = await gateway.post("/api/answer", body)

    failure(response, 400, "INVALID_ARGUMENT", reason)
    assert "CANARY" not in response.text
    assert not script.calls


async def test_who_guessed_a_field_is_told_those_that_are_known(gateway: Any) -> None:
    response = await gateway.post("/api/search", {"query": "x", "CANARY": 1})

    assert response.json()["error"].endswith(
        "It knows: embedding, filters, lanes, min_similarity, mode, query, space_id, top_k."
    )


@pytest.mark.parametrize("name", ["top_k", "topK"])
async def test_both_spellings_of_a_field_are_taken(gateway: Any, script: Any, name: str) -> None:
    await gateway.post("/api/answer", {**QUESTION, name: 3})

    assert script.calls[0].request.top_k == 3


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\uD83D\\uDE00\\ud83d\\ude00", "\\\\ud800", "\\u00e9", "\\ue000"])
async def test_well_formed_escapes_are_taken(gateway: Any, script: Any, text: str) -> None:
    """A pair of surrogates, an escaped backslash before what looks like one, and other escapes."""
    response = await gateway.post("/api/answer", f'{{"question": "{text}"}}')

    assert response.status_code == 200
    assert script.calls[0].request.question == json.loads(f'"{text}"')


async def test_a_key_inside_a_value_is_not_a_field_of_the_request(gateway: Any, script: Any) -> None:
    document = {"source_url": "a", "content": 'say "content": {', "metadata": {"content": "b", "zz": "c"}}

    assert (await gateway.post("/api/documents", document)).status_code == 200
    assert dict(script.calls[0].request.metadata) == document["metadata"]


async def test_a_script_that_breaks_refuses_the_request(
    upstream: Any, failure: Any, altered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Envoy itself would let the request pass."""
    opening = "local function fault_of(handle)\n"
    monkeypatch.setattr(stack_gateway, "SOURCE", altered("strict_json.lua", opening, opening + "error('broken')\n"))

    async for gateway in run_gateway(upstream, tmp_path):
        failure(await gateway.post("/api/answer", QUESTION), 500, "INTERNAL", "INTERNAL")

    assert not upstream.script.calls


async def test_a_query_string_is_refused(gateway: Any, script: Any, failure: Any) -> None:
    response = await gateway.post("/api/answer?question=CANARY", {})

    failure(response, 400, "INVALID_ARGUMENT", "FIELD_UNKNOWN")
    assert not script.calls


async def test_a_question_is_taken_up_to_its_limit_and_not_past_it(gateway: Any, failure: Any) -> None:
    """F58, F63."""
    frame = '{"question":"%s"}'
    filled = frame % ("x" * (64 * 1024 - len(frame % "")))

    assert (await gateway.post("/api/answer", filled)).status_code == 200
    failure(await gateway.post("/api/answer", filled + " "), 413, "INVALID_ARGUMENT", "REQUEST_TOO_LARGE")


async def test_a_document_is_taken_up_to_its_limit(gateway: Any, script: Any) -> None:
    """F63: 8 MiB of text, each character escaped in JSON."""
    text = '"' * (8 * 2**20 - 64)

    assert (await gateway.post("/api/documents", {"content": text})).status_code == 200
    assert len(script.calls[0].request.content) == len(text)


@pytest.mark.parametrize("size", [64 * 1024 + 1, 2**20 + 1, 4 * 2**20 - 1024])
async def test_a_large_reply_arrives_whole(gateway: Any, script: Any, size: int) -> None:
    """F63."""
    script.reply("Search", space_id="x" * size)

    assert (await gateway.post("/api/search", {"query": "x"})).json()["space_id"] == "x" * size


async def test_a_reply_over_the_limit_is_a_failure_in_our_shape(gateway: Any, script: Any, failure: Any) -> None:
    """F63."""
    script.reply("Search", space_id="x" * 5 * 2**20)

    failure(await gateway.post("/api/search", {"query": "x"}), 500, "INTERNAL", "INTERNAL")


async def test_a_reply_carries_the_security_headers_whoever_made_it(gateway: Any) -> None:
    replies = [
        await gateway.post("/api/answer", QUESTION),
        await gateway.get("/healthz"),
        await gateway.get("/readyz"),
        await gateway.get("/nope"),
        await gateway.post("/api/answer", "{"),
        await gateway.get("/healthz", headers={"host": "evil.example"}),
    ]

    for reply in replies:
        headers = reply.headers
        assert "default-src 'none'; frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert {"permissions-policy", "x-request-id"} <= headers.keys()
        assert not [name for name in headers if name.startswith(("server", "x-envoy", "x-attest", "grpc-"))]
