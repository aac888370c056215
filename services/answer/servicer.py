"""Translates between the contract of AnswerService and the use-case."""

from typing import NoReturn

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from attest.answer.v1 import answer_service_pb2 as pb
from attest.answer.v1 import answer_service_pb2_grpc
from services.answer.ask import Answer, AskQuestion
from services.answer.model import CheckedSentence, Passage, Reply
from services.answer.question import RawQuestion
from services.answer.record import Record
from services.common.errors import Reason, UnimplementedError
from services.common.identity import Scope
from services.common.rpc.context import current_principal, trace_id

SERVICE_NAME = pb.DESCRIPTOR.services_by_name["AnswerService"].full_name

SCOPES = {
    "Answer": Scope.ASK,
    "StreamAnswer": Scope.ASK,
    "ListRecords": Scope.ADMIN,
    "GetRecord": Scope.ADMIN,
}

SNIPPET_CHARS = 240
SIMILARITY_DECIMALS = 3


class AnswerServicer(answer_service_pb2_grpc.AnswerServiceServicer):
    """Serves AnswerService; what goes wrong is raised as a domain error."""

    def __init__(self, ask: AskQuestion) -> None:
        """Take the use-case."""
        self._ask = ask

    async def Answer(  # noqa: N802  # name of the contract
        self, request: pb.AnswerRequest, context: grpc.aio.ServicerContext
    ) -> pb.AnswerResponse:
        """Answer one question."""
        return _response(await self._ask(_question(request), current_principal(), trace_id()))

    async def StreamAnswer(  # noqa: N802  # name of the contract
        self, request: pb.StreamAnswerRequest, context: grpc.aio.ServicerContext
    ) -> NoReturn:
        """Refuse: not served yet."""
        _refuse("StreamAnswer is not served yet; call Answer.")

    async def ListRecords(  # noqa: N802  # name of the contract
        self, request: pb.ListRecordsRequest, context: grpc.aio.ServicerContext
    ) -> NoReturn:
        """Refuse: not served yet."""
        _refuse("ListRecords is not served yet; each response carries its own record.")

    async def GetRecord(  # noqa: N802  # name of the contract
        self, request: pb.GetRecordRequest, context: grpc.aio.ServicerContext
    ) -> NoReturn:
        """Refuse: not served yet."""
        _refuse("GetRecord is not served yet; each response carries its own record.")


def _refuse(message: str) -> NoReturn:
    raise UnimplementedError(Reason.NOT_IMPLEMENTED, message)


def _question(request: pb.AnswerRequest) -> RawQuestion:
    return RawQuestion(
        text=request.question,
        lanes=tuple(request.lanes),
        top_k=request.top_k if request.HasField("top_k") else None,
        min_similarity=request.min_similarity if request.HasField("min_similarity") else None,
        turns=len(request.history),
    )


def _response(answer: Answer) -> pb.AnswerResponse:
    reply = answer.reply
    return pb.AnswerResponse(
        outcome=reply.outcome.name,
        answer=reply.text,
        sources=_sources(reply),
        sentences=[_sentence(sentence) for sentence in reply.sentences],
        record=_record(answer.record),
    )


def _sources(reply: Reply) -> list[pb.Source]:
    return [_source(n, passage, n in reply.cited) for n, passage in reply.sources.items()]


def _source(n: int, passage: Passage, cited: bool) -> pb.Source:
    return pb.Source(
        n=n,
        source=passage.source,
        source_url=passage.source_url,
        snippet=passage.content[:SNIPPET_CHARS],
        similarity=round(passage.similarity, SIMILARITY_DECIMALS),
        cited=cited,
        passage_id=passage.passage_id,
        document_id=passage.document_id,
        lane=passage.lane,
        version=passage.version,
        page=passage.page,
        heading_path=passage.heading_path,
        char_start=passage.char_start,
        char_end=passage.char_end,
        content=passage.content,
        content_sha256=passage.content_sha256,
    )


def _sentence(sentence: CheckedSentence) -> pb.Sentence:
    return pb.Sentence(
        text=sentence.text,
        verdict=sentence.verdict.name,
        citations=sentence.citations,
        support=[
            pb.SupportSpan(n=span.n, char_start=span.char_start, char_end=span.char_end) for span in sentence.support
        ],
    )


def _record(record: Record) -> pb.Record:
    time = Timestamp()
    time.FromDatetime(record.record_time)
    return pb.Record(
        q_hash=record.q_hash,
        q_len=record.q_len,
        outcome=record.outcome.name if record.outcome else "OUTCOME_UNSPECIFIED",
        guard_verdict=record.guard_verdict.name if record.guard_verdict else "GUARD_VERDICT_UNSPECIFIED",
        guard_rules=record.guard_rules,
        latency_ms=record.latency_ms,
        embed_ms=record.embed_ms,
        vector_search_ms=record.vector_search_ms,
        lexical_search_ms=record.lexical_search_ms,
        generate_ms=record.generate_ms,
        verify_ms=record.verify_ms,
        chunk_count=record.chunk_count,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        estimated_cost_usd=record.estimated_cost_usd,
        embedding_model=record.embedding_model,
        generator=record.generator,
        trace_id=record.trace_id,
        record_time=time,
    )
