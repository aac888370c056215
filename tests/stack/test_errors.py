"""Bad input gets the right code, reason and message, over gRPC and REST alike."""

import json
import re
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from services.common.embedding.files import packaged_minilm
from services.common.embedding.thresholds import thresholds_of
from services.common.errors import Reason
from services.common.rpc.status import error_of
from tests.stack.local_stack import LocalStack

pytestmark = pytest.mark.stack

STATUS = {"INVALID_ARGUMENT": 400, "NOT_FOUND": 404, "UNIMPLEMENTED": 501}


@dataclass(frozen=True)
class Case:
    """A bad request and how it is refused."""

    path: str
    method: str
    port: str
    body: dict[str, Any]
    code: str
    reason: str


def _answer(body: dict[str, Any], code: str, reason: str) -> Case:
    return Case("/api/answer", "attest.answer.v1.AnswerService/Answer", "ANSWER", body, code, reason)


def _search(body: dict[str, Any], code: str, reason: str) -> Case:
    return Case("/api/search", "attest.retrieval.v1.RetrievalService/Search", "RETRIEVAL", body, code, reason)


def _ingest(body: dict[str, Any], code: str, reason: str) -> Case:
    return Case("/api/documents", "attest.ingest.v1.IngestService/IngestDocument", "INGEST", body, code, reason)


INVALID = "INVALID_ARGUMENT"
CASES = {
    "blank question": _answer({"question": " \n\t "}, INVALID, "QUESTION_BLANK"),
    "no question": _answer({}, INVALID, "QUESTION_BLANK"),
    "long question": _answer({"question": "why " * 1001}, INVALID, "QUESTION_TOO_LONG"),
    "NUL in question": _answer({"question": "why\0not"}, INVALID, "TEXT_MALFORMED"),
    "unknown lane": _answer({"question": "why", "lanes": ["nowhere"]}, "NOT_FOUND", "LANE_UNKNOWN"),
    "NaN": _answer({"question": "why", "min_similarity": "NaN"}, INVALID, "FIELD_OUT_OF_RANGE"),
    "Infinity": _answer({"question": "why", "min_similarity": "Infinity"}, INVALID, "FIELD_OUT_OF_RANGE"),
    "similarity above": _answer({"question": "why", "min_similarity": 1.5}, INVALID, "FIELD_OUT_OF_RANGE"),
    "explicit top_k 0": _answer({"question": "why", "top_k": 0}, INVALID, "FIELD_OUT_OF_RANGE"),
    "negative top_k": _answer({"question": "why", "top_k": -1}, INVALID, "FIELD_OUT_OF_RANGE"),
    "top_k above": _answer({"question": "why", "top_k": 21}, INVALID, "FIELD_OUT_OF_RANGE"),
    "top_k huge": _answer({"question": "why", "top_k": 2**31 - 1}, INVALID, "FIELD_OUT_OF_RANGE"),
    "history": _answer(
        {"question": "why", "history": [{"question": "a", "answer": "b"}]}, "UNIMPLEMENTED", "NOT_IMPLEMENTED"
    ),
    "blank query": _search({"query": " "}, INVALID, "QUESTION_BLANK"),
    "search top_k 0": _search({"query": "why", "top_k": 0}, INVALID, "FIELD_OUT_OF_RANGE"),
    "search top_k above": _search({"query": "why", "top_k": 1001}, INVALID, "FIELD_OUT_OF_RANGE"),
    "search NaN": _search({"query": "why", "min_similarity": "NaN"}, INVALID, "FIELD_OUT_OF_RANGE"),
    "search unknown lane": _search({"query": "why", "lanes": ["nowhere"]}, "NOT_FOUND", "LANE_UNKNOWN"),
    "wrong dimension": _search({"embedding": [0.5, 0.5]}, INVALID, "DIMENSION_MISMATCH"),
    "embedding of NaN": _search({"embedding": ["NaN"] * 384}, INVALID, "FIELD_INVALID"),
    "embedding of zeros": _search({"embedding": [0] * 384}, INVALID, "FIELD_INVALID"),
    "lexical mode": _search({"query": "why", "mode": "LEXICAL"}, "UNIMPLEMENTED", "NOT_IMPLEMENTED"),
    "filters": _search({"query": "why", "filters": {"document_ids": ["a"]}}, "UNIMPLEMENTED", "NOT_IMPLEMENTED"),
    "no address": _ingest({"content": "text"}, INVALID, "FIELD_MISSING"),
    "no content": _ingest({"source_url": "a.md"}, INVALID, "FIELD_MISSING"),
    "script address": _ingest({"source_url": "javascript:alert(1)", "content": "text"}, INVALID, "FIELD_INVALID"),
    "NUL in title": _ingest({"source_url": "a.md", "title": "a\0b", "content": "text"}, INVALID, "TEXT_MALFORMED"),
    "ingest unknown lane": _ingest(
        {"source_url": "a.md", "lane": "nowhere", "content": "text"}, "NOT_FOUND", "LANE_UNKNOWN"
    ),
    "unknown media type": _ingest(
        {"source_url": "a", "media_type": "text/html", "content": "text"}, INVALID, "FIELD_INVALID"
    ),
}

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@every_case
def test_rest_refuses_by_name(stack: LocalStack, case: Case) -> None:
    reply = stack.post(case.path, case.body)

    assert (reply.status, reply.body["code"], reply.body["reason"]) == (STATUS[case.code], case.code, case.reason)
    assert set(reply.body) == {"error", "code", "reason"}
    assert reply.headers["content-type"] == "application/json"
    assert len(reply.body["error"]) > 10


@every_case
def test_grpc_refuses_by_the_same_name(stack: LocalStack, case: Case) -> None:
    code, _, error = stack.grpcurl(case.port, case.method, case.body)

    camel = "".join(word.capitalize() for word in case.code.split("_"))
    assert code != 0
    assert f"Code: {camel}" in error
    assert re.search(rf'"reason":\s*"{case.reason}"', error), error


def test_a_lone_surrogate_is_refused_over_rest(stack: LocalStack) -> None:
    """JSON can spell what Unicode cannot hold."""
    reply = stack.post("/api/answer", r'{"question": "a \ud800 b"}')

    assert (reply.status, reply.body["code"], reply.body["reason"]) == (400, "INVALID_ARGUMENT", "TEXT_MALFORMED")


def test_a_lone_surrogate_is_refused_over_grpc(stack: LocalStack) -> None:
    """A client that is not Python's can put its bytes, which are not UTF-8, into a string."""
    question = b"a \xed\xa0\x80 b"
    message = b"\x0a" + bytes([len(question)]) + question
    target = f"127.0.0.1:{stack.ports['ANSWER']}"
    with grpc.insecure_channel(target) as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary("/attest.answer.v1.AnswerService/Answer")(message, timeout=10)

    error = error_of(caught.value)  # type: ignore[arg-type]  # the synchronous kind has the same methods
    assert error is not None
    assert (caught.value.code(), error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, Reason.TEXT_MALFORMED)


def test_an_explicit_zero_threshold_is_not_the_default(stack: LocalStack) -> None:
    """F53: 0.0 lets through what the space's own threshold cuts."""
    query = {"query": "How long is the journey to the coast?", "top_k": 50}
    default = stack.post("/api/search", query).body
    zero = stack.post("/api/search", {**query, "min_similarity": 0.0}).body

    assert default["min_similarity"] == thresholds_of(packaged_minilm().name).min_similarity
    assert zero["min_similarity"] == 0
    assert len(zero["passages"]) > len(default["passages"])


def test_what_was_asked_is_not_repeated_in_an_error(stack: LocalStack) -> None:
    secret = "xylophonequasar"
    replies = [
        stack.post("/api/answer", {"question": secret * 400}),
        stack.post("/api/answer", {"question": secret, "lanes": [secret]}),
        stack.post("/api/answer", {"question": f"{secret}\0"}),
        stack.post("/api/answer", {secret: 1}),
        stack.post("/api/answer", f'{{"question": "{secret}'),
        stack.post("/api/answer", {"question": "why", "top_k": secret}),
        stack.post("/api/documents", {"source_url": f"ftp://{secret}", "content": "text"}),
    ]

    for reply in replies:
        assert reply.status in (400, 404), reply
        assert secret not in json.dumps(reply.body)
