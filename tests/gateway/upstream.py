"""Scripted services: the three of the suite, answering what a test says, and keeping what reached them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as grpc_health
from grpc_reflection.v1alpha import reflection

from attest.answer.v1 import answer_service_pb2 as answer_pb
from attest.answer.v1 import answer_service_pb2_grpc as answer_grpc
from attest.ingest.v1 import ingest_service_pb2 as ingest_pb
from attest.ingest.v1 import ingest_service_pb2_grpc as ingest_grpc
from attest.retrieval.v1 import retrieval_service_pb2 as retrieval_pb
from attest.retrieval.v1 import retrieval_service_pb2_grpc as retrieval_grpc

SERVICES = {
    "answer": "attest.answer.v1.AnswerService",
    "retrieval": "attest.retrieval.v1.RetrievalService",
    "ingest": "attest.ingest.v1.IngestService",
}
REPLIES: dict[str, Any] = {"Search": retrieval_pb.SearchResponse}
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
Behaviour = Callable[[Any, grpc.aio.ServicerContext], Awaitable[Any]]
Reception = Callable[[AsyncIterator[Any], grpc.aio.ServicerContext], AsyncIterator[Any]]


@dataclass
class Call:
    """What reached a service."""

    method: str
    request: Any
    metadata: dict[str, str]
    seconds_left: float | None


@dataclass
class Script:
    """What the services answer, and what reached them."""

    calls: list[Call] = field(default_factory=list)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    reception: Reception | None = None
    """What is done with an upload; without it, its bytes are counted."""

    async def receive(self, requests: AsyncIterator[Any], context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        async for response in (self.reception or self.count)(requests, context):
            yield response

    async def count(self, requests: AsyncIterator[Any], context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        """Say after each piece how much has come; keep the first piece and how many bytes there were."""
        received = 0
        async for piece in requests:
            if not received:
                self.record("UploadDocument", piece, context)
            received += len(piece.data.data)
            yield ingest_pb.UploadDocumentResponse(received_bytes=received)
        result = ingest_pb.IngestDocumentResponse(outcome=ingest_pb.IngestOutcome.CREATED)
        yield ingest_pb.UploadDocumentResponse(received_bytes=received, result=result)

    def record(self, method: str, request: Any, context: grpc.aio.ServicerContext) -> None:
        metadata = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
        self.calls.append(Call(method, request, metadata, context.time_remaining()))

    async def play(self, method: str, default: Any, request: Any, context: grpc.aio.ServicerContext) -> Any:
        self.record(method, request, context)
        behaviour = self.behaviours.get(method)
        return await behaviour(request, context) if behaviour else default

    def fail(self, method: str, code: grpc.StatusCode, message: str, reason: str | None = None) -> None:
        """Make a method answer with a status, and with our ErrorInfo when there is a reason."""

        async def behave(_: Any, context: grpc.aio.ServicerContext) -> Any:
            status = Status(code=code.value[0], message=message)
            if reason:
                detail = AnyMessage()
                detail.Pack(ErrorInfo(reason=reason, domain="attest", metadata={"limit": 'a "quoted" value'}))
                status.details.append(detail)
            trailers = (("grpc-status-details-bin", status.SerializeToString()),) if reason else ()
            await context.abort(code, message, trailers)

        self.behaviours[method] = behave

    def reply(self, method: str, **fields: Any) -> None:
        """Make a method answer with these fields of its response."""

        async def behave(_: Any, __: Any) -> Any:
            return REPLIES[method](**fields)

        self.behaviours[method] = behave

    def hang(self, method: str) -> None:
        """Make a method answer never."""

        async def behave(_: Any, __: Any) -> Any:
            await asyncio.Event().wait()

        self.behaviours[method] = behave


class Answer(answer_grpc.AnswerServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def Answer(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        reply = answer_pb.AnswerResponse(outcome=answer_pb.AnswerOutcome.ANSWERED, answer="Yes. [1]")
        return await self.script.play("Answer", reply, request, context)


class Retrieval(retrieval_grpc.RetrievalServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def Search(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("Search", retrieval_pb.SearchResponse(), request, context)

    async def EmbedTexts(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("EmbedTexts", retrieval_pb.EmbedTextsResponse(), request, context)


class Ingest(ingest_grpc.IngestServiceServicer):
    def __init__(self, script: Script) -> None:
        self.script = script

    async def IngestDocument(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("IngestDocument", ingest_pb.IngestDocumentResponse(), request, context)

    async def GetDocument(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("GetDocument", ingest_pb.GetDocumentResponse(), request, context)

    async def ListDocuments(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("ListDocuments", ingest_pb.ListDocumentsResponse(), request, context)

    async def DeleteDocument(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("DeleteDocument", ingest_pb.DeleteDocumentResponse(), request, context)

    async def ListLanes(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        return await self.script.play("ListLanes", ingest_pb.ListLanesResponse(), request, context)

    async def UploadDocument(self, requests: Any, context: Any) -> Any:  # noqa: N802  # the name is the contract's
        async for response in self.script.receive(requests, context):
            yield response


@dataclass
class Upstream:
    """The three scripted services, each with its port and its health."""

    script: Script
    ports: dict[str, int] = field(default_factory=dict)
    health: dict[str, grpc_health.HealthServicer] = field(default_factory=dict)
    servers: list[grpc.aio.Server] = field(default_factory=list)

    async def start(self, name: str) -> None:
        server = grpc.aio.server(options=[("grpc.max_receive_message_length", 32 * 1024 * 1024)])
        answer_grpc.add_AnswerServiceServicer_to_server(Answer(self.script), server)
        retrieval_grpc.add_RetrievalServiceServicer_to_server(Retrieval(self.script), server)
        ingest_grpc.add_IngestServiceServicer_to_server(Ingest(self.script), server)
        self.health[name] = grpc_health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self.health[name], server)
        await self.set_health(name, SERVING)
        reflection.enable_server_reflection((SERVICES[name], reflection.SERVICE_NAME), server)
        self.ports[name] = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        self.servers.append(server)

    @asynccontextmanager
    async def out_of_service(self, name: str) -> AsyncIterator[None]:
        """Let a service say that it does not serve."""
        await self.set_health(name, NOT_SERVING)
        try:
            yield
        finally:
            await self.set_health(name, SERVING)

    async def set_health(self, name: str, status: int) -> None:
        await self.health[name].set(SERVICES[name], status)
