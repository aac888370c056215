"""The one funnel from domain errors to gRPC statuses, and the way back for callers of our own services."""

from collections.abc import Iterable
from typing import NoReturn

import grpc
from google.protobuf.any_pb2 import Any
from google.rpc import error_details_pb2, status_pb2

from services.common import errors
from services.common.errors import DomainError, Reason

DOMAIN = "attest"
"""`ErrorInfo.domain` of every error of ours."""

_DETAILS_KEY = "grpc-status-details-bin"

_CODES: dict[type[DomainError], grpc.StatusCode] = {
    errors.InvalidArgumentError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.FailedPreconditionError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.AbortedError: grpc.StatusCode.ABORTED,
    errors.ResourceExhaustedError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.UnavailableError: grpc.StatusCode.UNAVAILABLE,
    errors.DeadlineExceededError: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.UnauthenticatedError: grpc.StatusCode.UNAUTHENTICATED,
    errors.PermissionDeniedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.UnimplementedError: grpc.StatusCode.UNIMPLEMENTED,
    errors.DataLossError: grpc.StatusCode.DATA_LOSS,
}

_CLASSES = {code: kind for kind, code in _CODES.items()}


def code_of(error: DomainError) -> grpc.StatusCode:
    """Return the canonical code; INTERNAL for a domain error of no known class."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), grpc.StatusCode.INTERNAL)


async def abort(context: grpc.aio.ServicerContext, error: DomainError) -> NoReturn:
    """End the call with the error's code, its message, and an `ErrorInfo` with its reason and variables."""
    code = code_of(error)
    info = error_details_pb2.ErrorInfo(reason=error.reason.value, domain=DOMAIN, metadata=error.metadata)
    detail = Any()
    detail.Pack(info)
    status = status_pb2.Status(code=code.value[0], message=error.message, details=[detail])
    await context.abort(code, error.message, ((_DETAILS_KEY, status.SerializeToString()),))
    raise AssertionError("abort returned")


def error_of(call: grpc.aio.AioRpcError) -> DomainError | None:
    """Return the domain error that a service of ours answered with; None when the status is not ours."""
    kind = _CLASSES.get(call.code())
    info = _error_info(call.trailing_metadata() or ())
    if kind is None or info is None or info.domain != DOMAIN:
        return None
    try:
        reason = Reason(info.reason)
    except ValueError:
        return None
    return kind(reason, call.details() or "", **info.metadata)


def _error_info(metadata: Iterable[tuple[str, str | bytes]]) -> error_details_pb2.ErrorInfo | None:
    for key, value in metadata:
        if key == _DETAILS_KEY and isinstance(value, bytes):
            status = status_pb2.Status.FromString(value)
            for detail in status.details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return info
    return None
