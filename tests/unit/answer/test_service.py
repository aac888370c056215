import math
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from attest.answer.v1 import answer_service_pb2 as pb
from attest.answer.v1.answer_service_pb2_grpc import AnswerServiceStub, add_AnswerServiceServicer_to_server
from attest.retrieval.v1 import retrieval_service_pb2 as retrieval_pb
from attest.retrieval.v1.retrieval_service_pb2_grpc import (
    RetrievalServiceServicer,
    RetrievalServiceStub,
    add_RetrievalServiceServicer_to_server,
)
from services.answer.retriever import GrpcRetriever
from services.answer.servicer import AnswerServicer
from services.common import errors
from services.common.errors import DomainError, Reason
from services.common.identity import Scope
from services.common.rpc import server as rpc_server
from services.common.rpc.client import channel
from services.common.rpc.context import time_remaining
from services.common.rpc.status import error_of
from tests.fakes.answer import RecordingSink, asking

CONTENT = "\U0001f600 Everybody has 25 days of annual leave, see [2]. " + "Filler goes on and on. " * 20
PASSAGE = retrieval_pb.Passage(
    passage_id="p-1",
    document_id="d-1",
    lane="default",
    source="Annual leave",
    source_url="handbook/leave.md",
    version=3,
    page=7,
    heading_path=["People", "Leave"],
    char_start=10,
    char_end=10 + len(CONTENT),
    content=CONTENT,
    content_sha256="ab" * 32,
    similarity=0.81249,
)
FOUND = retrieval_pb.SearchResponse(
    passages=[PASSAGE, retrieval_pb.Passage(passage_id="p-2", content="Book trains early.", similarity=0.5)],
    embedding_model="all-MiniLM-L6-v2",
    timings=retrieval_pb.SearchTimings(embed_ms=3.5, vector_search_ms=1.25),
)
QUESTION = "How many days of annual leave do I have?"


class ScriptedRetrieval(RetrievalServiceServicer):
    """Answers every search in the same way and remembers what it was asked."""

    def __init__(self, answer: retrieval_pb.SearchResponse | Exception | grpc.StatusCode) -> None:
        self._answer = answer
        self.asked: list[retrieval_pb.SearchRequest] = []
        self.seconds: list[float | None] = []

    async def Search(self, request: retrieval_pb.SearchRequest, context: Any) -> retrieval_pb.SearchResponse:  # noqa: N802
        self.asked.append(request)
        self.seconds.append(context.time_remaining())
        if isinstance(self._answer, Exception):
            raise self._answer
        if isinstance(self._answer, grpc.StatusCode):
            await context.abort(self._answer, "text of a library")
        return self._answer


@asynccontextmanager
async def serving(add: Any, scopes: dict[str, Scope], name: str) -> AsyncIterator[grpc.aio.Channel]:
    """Serve with the suite's own concerns and open the suite's own channel to it."""
    settings = rpc_server.ServerSettings("127.0.0.1:0", frozenset(Scope), 0, 0)
    server = rpc_server.build(settings, rpc_server.Service(name, add, scopes))
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with channel(f"127.0.0.1:{port}") as opened:
            yield opened
    finally:
        await server.stop(None)


@asynccontextmanager
async def suite(retrieval: ScriptedRetrieval, sink: RecordingSink | None = None) -> AsyncIterator[AnswerServiceStub]:
    """Serve answer in front of the scripted retrieval."""
    async with serving(
        lambda server: add_RetrievalServiceServicer_to_server(retrieval, server),
        {"Search": Scope.ASK},
        "attest.retrieval.v1.RetrievalService",
    ) as to_retrieval:
        ask = asking(GrpcRetriever(RetrievalServiceStub(to_retrieval), time_remaining), sink)
        async with serving(
            lambda server: add_AnswerServiceServicer_to_server(AnswerServicer(ask), server),
            dict.fromkeys(("Answer", "StreamAnswer", "ListRecords", "GetRecord"), Scope.ASK),
            "attest.answer.v1.AnswerService",
        ) as to_answer:
            yield AnswerServiceStub(to_answer)


@asynccontextmanager
async def nobody_listening() -> AsyncIterator[str]:
    """Hold a port of this machine that refuses every connection."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


async def refused(stub: AnswerServiceStub, request: pb.AnswerRequest) -> DomainError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Answer(request, timeout=10)
    error = error_of(caught.value)
    assert error is not None, caught.value
    return error


async def test_an_answer_carries_sources_sentences_and_record() -> None:
    async with suite(ScriptedRetrieval(FOUND)) as stub:
        response = await stub.Answer(pb.AnswerRequest(question=QUESTION), timeout=10)

    assert response.outcome == pb.AnswerOutcome.ANSWERED
    assert response.answer == "\U0001f600 Everybody has 25 days of annual leave, see \\[2\\]. [1]"
    [sentence] = response.sentences
    assert sentence.text == "\U0001f600 Everybody has 25 days of annual leave, see [2]."
    assert (sentence.verdict, list(sentence.citations)) == (pb.Sentence.QUOTED, [1])
    assert (sentence.support[0].n, sentence.support[0].char_start, sentence.support[0].char_end) == (1, 0, 49)
    first, second = response.sources
    assert (first.n, first.cited, first.similarity, first.page, first.version) == (1, True, 0.812, 7, 3)
    assert first.snippet == CONTENT[:240]
    assert first.content == CONTENT
    assert list(first.heading_path) == ["People", "Leave"]
    assert (second.n, second.cited, second.HasField("page")) == (2, False, False)
    assert (response.record.embed_ms, response.record.vector_search_ms, response.record.chunk_count) == (3.5, 1.25, 2)
    assert response.record.outcome == pb.AnswerOutcome.ANSWERED
    assert response.record.guard_verdict == pb.Record.CLEAN
    assert response.record.generator == "extractive"


async def test_an_explicit_zero_reaches_retrieval_and_an_absent_value_stays_absent() -> None:
    """F53."""
    retrieval = ScriptedRetrieval(FOUND)
    async with suite(retrieval) as stub:
        await stub.Answer(pb.AnswerRequest(question=QUESTION, min_similarity=0.0), timeout=10)
        await stub.Answer(pb.AnswerRequest(question=QUESTION, lanes=["hr"]), timeout=10)

    explicit, absent = retrieval.asked
    assert (explicit.HasField("min_similarity"), explicit.min_similarity) == (True, 0.0)
    assert (absent.HasField("min_similarity"), absent.top_k, list(absent.lanes)) == (False, 5, ["hr"])


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.AnswerRequest(question=" "), Reason.QUESTION_BLANK),
        (pb.AnswerRequest(question="x" * 4001), Reason.QUESTION_TOO_LONG),
        (pb.AnswerRequest(question="caf\0e"), Reason.TEXT_MALFORMED),
        (pb.AnswerRequest(question="Leave?", top_k=0), Reason.FIELD_OUT_OF_RANGE),
        (pb.AnswerRequest(question="Leave?", min_similarity=math.nan), Reason.FIELD_OUT_OF_RANGE),
        (pb.AnswerRequest(question="Leave?", lanes=["A B"]), Reason.FIELD_INVALID),
        (pb.AnswerRequest(question="Leave?", history=[pb.Turn(question="a", answer="b")]), Reason.NOT_IMPLEMENTED),
    ],
)
async def test_a_wrong_request_has_a_reason_and_is_not_searched(request_: pb.AnswerRequest, reason: Reason) -> None:
    retrieval = ScriptedRetrieval(FOUND)
    async with suite(retrieval) as stub:
        error = await refused(stub, request_)

    assert error.reason is reason
    assert retrieval.asked == []


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (errors.NotFoundError(Reason.LANE_UNKNOWN, "m"), errors.NotFoundError, Reason.LANE_UNKNOWN),
        (
            errors.InvalidArgumentError(Reason.TEXT_TOO_LONG_FOR_MODEL, "m"),
            errors.InvalidArgumentError,
            Reason.TEXT_TOO_LONG_FOR_MODEL,
        ),
        (errors.AbortedError(Reason.SPACE_MISMATCH, "m"), errors.AbortedError, Reason.SPACE_MISMATCH),
        (
            errors.UnavailableError(Reason.DATABASE_UNAVAILABLE, "m"),
            errors.UnavailableError,
            Reason.DATABASE_UNAVAILABLE,
        ),
        (grpc.StatusCode.UNAVAILABLE, errors.UnavailableError, Reason.RETRIEVAL_UNAVAILABLE),
        (grpc.StatusCode.DEADLINE_EXCEEDED, errors.DeadlineExceededError, Reason.DEADLINE_EXCEEDED),
    ],
)
async def test_a_refusal_of_retrieval_reaches_the_caller_by_name(
    answer: Exception | grpc.StatusCode, kind: type[DomainError], reason: Reason
) -> None:
    sink = RecordingSink()
    async with suite(ScriptedRetrieval(answer), sink) as stub:
        error = await refused(stub, pb.AnswerRequest(question=QUESTION))

    assert (type(error), error.reason) == (kind, reason)
    assert [record.reason for record in sink.records] == [reason.value]


@pytest.mark.parametrize("answer", [grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL, RuntimeError("secret")])
async def test_any_other_failure_of_retrieval_is_internal_and_says_nothing(answer: Exception | grpc.StatusCode) -> None:
    async with suite(ScriptedRetrieval(answer)) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Answer(pb.AnswerRequest(question=QUESTION), timeout=10)

    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert "secret" not in repr(caught.value)
    assert "library" not in repr(caught.value)


async def test_a_retrieval_that_is_not_there_is_unavailable() -> None:
    async with nobody_listening() as address, channel(address) as nowhere:
        ask = asking(GrpcRetriever(RetrievalServiceStub(nowhere), time_remaining))
        async with serving(
            lambda server: add_AnswerServiceServicer_to_server(AnswerServicer(ask), server),
            {"Answer": Scope.ASK},
            "attest.answer.v1.AnswerService",
        ) as to_answer:
            error = await refused(AnswerServiceStub(to_answer), pb.AnswerRequest(question=QUESTION))

    assert error.reason is Reason.RETRIEVAL_UNAVAILABLE


async def test_retrieval_gets_what_is_left_of_the_callers_deadline() -> None:
    """F49."""
    retrieval = ScriptedRetrieval(FOUND)
    async with suite(retrieval) as stub:
        await stub.Answer(pb.AnswerRequest(question=QUESTION), timeout=7)

    [seconds] = retrieval.seconds
    assert seconds is not None
    assert 0 < seconds <= 7


async def test_calls_of_later_issues_are_unimplemented() -> None:
    async with suite(ScriptedRetrieval(FOUND)) as stub:
        for call in (
            stub.ListRecords(pb.ListRecordsRequest(), timeout=10),
            stub.GetRecord(pb.GetRecordRequest(), timeout=10),
            stub.StreamAnswer(pb.StreamAnswerRequest(), timeout=10).read(),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call
            assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
