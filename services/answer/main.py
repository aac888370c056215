"""Runs the answer service."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from attest.answer.v1.answer_service_pb2_grpc import add_AnswerServiceServicer_to_server
from attest.retrieval.v1 import retrieval_service_pb2
from attest.retrieval.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from services.answer.ask import AskQuestion
from services.answer.clock import SystemClock
from services.answer.extractive import ExtractiveGenerator
from services.answer.gate import EvidenceGate
from services.answer.guard import Guard, GuardMode
from services.answer.hashing import QuestionHasher
from services.answer.record_log import RecordLog
from services.answer.retriever import GrpcRetriever
from services.answer.servicer import SCOPES, SERVICE_NAME, AnswerServicer
from services.common import logs, process
from services.common.errors import Reason, UnavailableError
from services.common.rpc.client import channel
from services.common.rpc.context import time_remaining
from services.common.rpc.server import Ping, Service, serve
from services.common.service import ServiceSettings, server_settings
from services.common.settings import from_environment
from services.common.telemetry import tracing

RETRIEVAL = retrieval_service_pb2.DESCRIPTOR.services_by_name["RetrievalService"].full_name


@dataclass(frozen=True, kw_only=True)
class AnswerSettings(ServiceSettings):
    """What the answer service reads from the environment."""

    answer_port: int = field(default=50053, metadata={"least": 1, "most": 65535})
    """Port to listen on."""
    retrieval_target: str = "dns:///127.0.0.1:50052"
    """Address of the retrieval service. Example: `dns:///retrieval.attest.svc.cluster.local.:50052`."""
    question_salt: bytes = field(repr=False)
    """Secret salt of the question hash, hex of 32 bytes or more; whoever holds it can test guesses."""
    guard: GuardMode = GuardMode.LOG
    """What the guard does with a question that matches a rule."""
    gate_min_cosine: float | None = field(default=None, metadata={"least": -1.0, "most": 1.0})
    """Least cosine of the closest passage for an answer, in place of that of the embedding space."""


async def run() -> None:
    """Run until a signal."""
    settings = from_environment(AnswerSettings)
    logs.configure("answer", settings.log_level)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(tracing("answer", settings.otlp_endpoint, settings.trace_ratio))
        retrieval = await stack.enter_async_context(channel(settings.retrieval_target, idempotent=[RETRIEVAL]))
        ask = AskQuestion(
            guard=Guard(settings.guard),
            hasher=QuestionHasher(settings.question_salt),
            retriever=GrpcRetriever(RetrievalServiceStub(retrieval), time_remaining),
            gate=EvidenceGate(settings.gate_min_cosine),
            generator=ExtractiveGenerator(),
            records=RecordLog(),
            clock=SystemClock(),
        )
        servicer = AnswerServicer(ask)
        service = Service(SERVICE_NAME, lambda server: add_AnswerServiceServicer_to_server(servicer, server), SCOPES)
        await serve(server_settings(settings, settings.answer_port), service, _ping(retrieval))


def _ping(retrieval: grpc.aio.Channel) -> Ping:
    health = health_pb2_grpc.HealthStub(retrieval)

    async def ping() -> None:
        response = await health.Check(health_pb2.HealthCheckRequest(service=RETRIEVAL), timeout=1)
        if response.status != health_pb2.HealthCheckResponse.SERVING:
            raise UnavailableError(Reason.RETRIEVAL_UNAVAILABLE, "The retrieval service is not ready.")

    return ping


def main() -> None:
    """Enter from the command line."""
    process.run(run)


if __name__ == "__main__":
    main()
