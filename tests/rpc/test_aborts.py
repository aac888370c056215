"""A call is ended in one place, where no handler can run on after it."""

import ast
from pathlib import Path

import grpc
import pytest

from tests.rpc.shapes import METHODS, Serving, call

_SERVICES = Path(__file__).resolve().parents[2] / "services"
_FUNNEL = _SERVICES / "common" / "rpc" / "status.py"
_ENDING = ("abort", "abort_with_status", "set_code", "set_details", "set_trailing_metadata")
"""What a handler could end its call with, or change its end."""


def _endings(source: str) -> list[str]:
    """Return where a method that ends a call is called; `os.abort` ends a process."""
    called = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    methods = [func for func in called if isinstance(func, ast.Attribute) and func.attr in _ENDING]
    return [f"line {func.lineno}: {func.attr}" for func in methods if ast.unparse(func) != "os.abort"]


def test_only_the_funnel_ends_a_call() -> None:
    """F46: inside `try … except Exception` an abort is swallowed, and the handler runs on and writes."""
    found = {
        str(path.relative_to(_SERVICES)): endings
        for path in sorted(_SERVICES.rglob("*.py"))
        if path != _FUNNEL and (endings := _endings(path.read_text(encoding="utf-8")))
    }

    assert found == {}
    assert _endings(_FUNNEL.read_text(encoding="utf-8"))


@pytest.mark.parametrize("method", METHODS)
async def test_an_abort_of_a_library_keeps_its_status(
    serving: Serving, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    """F46: the funnel lets it pass and does not take it for a fault of ours."""

    async def act(context: grpc.aio.ServicerContext) -> bytes:
        await context.abort(grpc.StatusCode.OUT_OF_RANGE, "too far")
        return b""

    async with serving(act) as opened:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(opened, method)

    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.OUT_OF_RANGE, "too far")
    assert not [record for record in caplog.records if record.getMessage() == "fault"]
