"""What the gateway itself refuses over gRPC carries the ErrorInfo that a service's own refusal has."""

from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from attest.answer.v1 import answer_service_pb2

ANSWER = "attest.answer.v1.AnswerService/Answer"


async def refused(gateway: Any, path: str, request: Any = None, **options: Any) -> tuple[status_pb2.Status, str]:
    """Return the status of a refused call as its details have it, and the reason; both forms of it must agree."""
    encoded = request.SerializeToString() if request else b""
    async with gateway.channel(options=list(options.items())) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary("/" + path)(encoded, timeout=5)
    [status] = [
        status_pb2.Status.FromString(value)
        for key, value in caught.value.trailing_metadata() or ()
        if key == "grpc-status-details-bin" and isinstance(value, bytes)
    ]
    assert (status.code, status.message) == (caught.value.code().value[0], caught.value.details())
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.domain == "attest"
    return status, info.reason


async def test_a_method_without_a_route_says_so(gateway: Any) -> None:
    status, reason = await refused(gateway, "nothing.here/X")

    assert (status.code, reason) == (grpc.StatusCode.UNIMPLEMENTED.value[0], "ROUTE_UNKNOWN")


async def test_a_host_that_is_not_served_is_named_as_the_reason(gateway: Any) -> None:
    status, reason = await refused(gateway, ANSWER, **{"grpc.default_authority": "evil.example"})

    assert (status.code, reason) == (grpc.StatusCode.PERMISSION_DENIED.value[0], "HOST_NOT_ALLOWED")


async def test_a_message_that_is_too_large_is_named_as_the_reason(gateway: Any) -> None:
    status, reason = await refused(gateway, ANSWER, answer_service_pb2.AnswerRequest(question="x" * 12 * 2**20))

    assert (status.code, reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], "REQUEST_TOO_LARGE")
    assert len(status.message) > 0


async def test_a_service_that_is_away_is_named_as_the_reason(gateway: Any, upstream: Any, wait_until: Any) -> None:
    async with upstream.out_of_service("answer"):
        await wait_until(lambda: gateway.status_is("/readyz", 503))
        status, reason = await refused(gateway, ANSWER)
    await wait_until(lambda: gateway.status_is("/readyz", 200))

    assert (status.code, reason) == (grpc.StatusCode.UNAVAILABLE.value[0], "UPSTREAM_UNAVAILABLE")


async def test_a_limit_that_is_used_up_is_named_as_the_reason(limited_gateway: Any) -> None:
    for _ in range(3):
        await limited_gateway.grpc(ANSWER)
    status, reason = await refused(limited_gateway, ANSWER)

    assert (status.code, reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], "RATE_LIMITED")
