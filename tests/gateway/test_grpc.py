import asyncio
import shutil
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest

from attest.answer.v1 import answer_service_pb2, answer_service_pb2_grpc

ANSWER = "attest.answer.v1.AnswerService/Answer"


async def grpcurl(*arguments: str) -> tuple[int, str]:
    binary = shutil.which("grpcurl", path=str(Path(sys.executable).parent))
    assert binary
    process = await asyncio.create_subprocess_exec(
        binary,
        *("-plaintext", "-max-time", "5", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


async def test_grpcurl_lists_and_calls_through_the_http_port(gateway: Any, script: Any) -> None:
    code, listed = await grpcurl(f"127.0.0.1:{gateway.port}", "list")
    assert code == 0, listed
    assert "attest.answer.v1.AnswerService" in listed

    code, answered = await grpcurl("-d", '{"question": "May I?"}', f"127.0.0.1:{gateway.port}", ANSWER)
    assert code == 0, answered
    assert "ANSWERED" in answered
    assert script.calls[0].request.question == "May I?"


@pytest.mark.parametrize(
    "path",
    [
        ANSWER,
        "attest.retrieval.v1.RetrievalService/Search",
        "attest.ingest.v1.IngestService/IngestDocument",
        "grpc.health.v1.Health/Check",
    ],
)
async def test_a_native_call_reaches_its_service(gateway: Any, path: str) -> None:
    assert (await gateway.grpc(path))[0] == "OK"


def public_methods() -> list[str]:
    from attest.ingest.v1 import ingest_service_pb2
    from attest.retrieval.v1 import retrieval_service_pb2

    files = (answer_service_pb2, retrieval_service_pb2, ingest_service_pb2)
    services = [service for file in files for service in file.DESCRIPTOR.services_by_name.values()]
    names = [f"{service.full_name}/{method.name}" for service in services for method in service.methods]
    return [name for name in names if not name.endswith("/EmbedTexts")]


async def test_every_method_of_the_contract_but_the_internal_one_has_a_route(gateway: Any) -> None:
    unknown = (await gateway.grpc("nothing.here/X"))[1]

    for method in public_methods():
        assert (await gateway.grpc(method))[1] != unknown, method


@pytest.mark.parametrize(
    "path",
    [
        "attest.retrieval.v1.RetrievalService/EmbedTexts",
        "attest.retrieval.v1.RetrievalService/%45mbedTexts",
        "attest.retrieval.v1.RetrievalService/EmbedTexts/",
        "attest.retrieval.v1.RetrievalService//EmbedTexts",
        "attest.answer.v1.AnswerService/Answer/",
        "attest.answer.v1.AnswerService/answer",
    ],
)
async def test_a_method_without_a_route_is_unimplemented(gateway: Any, script: Any, path: str) -> None:
    assert (await gateway.grpc(path))[0] == "UNIMPLEMENTED"
    assert not script.calls


async def test_a_native_caller_gets_the_status_of_the_service_as_it_is(gateway: Any, script: Any) -> None:
    script.fail("Answer", grpc.StatusCode.INVALID_ARGUMENT, "Ask something.", "QUESTION_BLANK")
    async with gateway.channel() as channel:
        stub = answer_service_pb2_grpc.AnswerServiceStub(channel)

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Answer(answer_service_pb2.AnswerRequest(), timeout=5)

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == "Ask something."
    details = dict(caught.value.trailing_metadata())["grpc-status-details-bin"]
    assert b"QUESTION_BLANK" in details


async def test_another_authority_is_refused_over_grpc(gateway: Any, script: Any) -> None:
    options = [("grpc.default_authority", "evil.example")]

    assert (await gateway.grpc(ANSWER, options=options))[0] == "PERMISSION_DENIED"
    assert not script.calls


async def test_a_forged_identity_is_stripped_over_grpc(gateway: Any, script: Any) -> None:
    await gateway.grpc(ANSWER, metadata=(("x-attest-identity", "forged"),))

    assert "x-attest-identity" not in script.calls[0].metadata


@pytest.mark.parametrize(("seconds", "least", "most"), [(5, 3, 5), (1000, 115, 120)])
async def test_a_native_deadline_goes_on_within_bounds(
    gateway: Any, script: Any, seconds: float, least: float, most: float
) -> None:
    await gateway.grpc(ANSWER, deadline=seconds)

    assert least < script.calls[0].seconds_left < most + 1


async def test_a_native_message_is_taken_up_to_its_limit(gateway: Any) -> None:
    async def code(size: int) -> str:
        return (await gateway.grpc(ANSWER, answer_service_pb2.AnswerRequest(question="x" * size)))[0]

    assert await code(12 * 2**20 - 1024) == "OK"
    assert await code(12 * 2**20) == "RESOURCE_EXHAUSTED"


async def test_a_service_that_is_down_is_unavailable_in_our_words(gateway: Any, upstream: Any, wait_until: Any) -> None:
    async with upstream.out_of_service("answer"):
        await wait_until(lambda: gateway.status_is("/readyz", 503))

        code, text = await gateway.grpc(ANSWER)

        assert code == "UNAVAILABLE"
        assert text.startswith("A service that is needed cannot be reached")
    await wait_until(lambda: gateway.status_is("/readyz", 200))
