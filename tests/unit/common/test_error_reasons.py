"""The enum of the contract is the one list of reasons; what the code says must stand there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from attest.errors.v1.error_reason_pb2 import ErrorReason
from scripts.pages.errors import DocumentedReason, read_reasons
from services.common import errors
from services.common.errors import DomainError, Reason
from services.common.rpc.status import code_of

ROOT = Path(__file__).resolve().parents[3]
LUA_ENTRY = re.compile(r'\{ "([A-Z_]+|\d{3})", "([A-Z_]+)", "')
LUA_STATUS = re.compile(r'\[(\d{3})\] = \{ "([A-Z_]+)", "([A-Z_]+)"')
# What Envoy's transcoder makes of a canonical code.
STATUS = {
    "INVALID_ARGUMENT": "400",
    "FAILED_PRECONDITION": "400",
    "UNAUTHENTICATED": "401",
    "PERMISSION_DENIED": "403",
    "NOT_FOUND": "404",
    "ABORTED": "409",
    "RESOURCE_EXHAUSTED": "429",
    "INTERNAL": "500",
    "UNIMPLEMENTED": "501",
    "UNAVAILABLE": "503",
    "DEADLINE_EXCEEDED": "504",
    "DATA_LOSS": "500",
}
Said = tuple[str, str, str]
"""Reason, canonical code, and HTTP status, or nothing where a later stage decides it."""


def said_by_services() -> Iterator[Said]:
    """Every `SomeError(Reason.NAME, …)` of the services."""
    for path in sorted((ROOT / "services").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and node.args:
                kind = getattr(errors, node.func.id if isinstance(node.func, ast.Name) else node.func.attr, None)
                if isinstance(kind, type) and issubclass(kind, DomainError):
                    for reason in reasons_in(node.args[0]):
                        code = code_of(kind(Reason.INTERNAL, "")).name
                        yield reason, code, STATUS[code]


def reasons_in(argument: ast.expr) -> list[str]:
    """The reasons that an argument names, both arms of a conditional included."""
    attributes = [node for node in ast.walk(argument) if isinstance(node, ast.Attribute)]
    return [node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "Reason"]


def said_by_gateway() -> Iterator[Said]:
    """Every reason that a script of the gateway can give."""
    edge = (ROOT / "gateway/edge.lua").read_text()
    strict = "".join(path.read_text() for path in sorted((ROOT / "gateway").glob("strict_*.lua")))
    for status, code, reason in LUA_STATUS.findall(edge):
        yield reason, code, status
    for first, reason in LUA_ENTRY.findall(edge):
        yield reason, first, ""
    for status, reason in LUA_ENTRY.findall(strict):
        yield reason, {"403": "PERMISSION_DENIED", "500": "INTERNAL"}.get(status, "INVALID_ARGUMENT"), status


@pytest.fixture(scope="module")
def documented() -> dict[str, DocumentedReason]:
    return {reason.name: reason for reason in read_reasons(ROOT)}


def test_the_contract_has_exactly_the_reasons_of_the_code() -> None:
    """A new one goes into protos/attest/errors/v1/error_reason.proto, then: make generate docs."""
    known = {*Reason, *(reason for reason, _, _ in said_by_gateway())}

    assert set(ErrorReason.Reason.keys()) - {"REASON_UNSPECIFIED"} == known


@pytest.mark.parametrize("source", [said_by_services, said_by_gateway], ids=["services", "gateway"])
def test_a_reason_is_given_with_the_codes_that_the_contract_states(
    documented: dict[str, DocumentedReason], source: type[Iterator[Said]]
) -> None:
    told = {(name, code, status) for name, reason in documented.items() for code, status in reason.codes}
    codes = {(name, code) for name, code, _ in told}
    found = set(source())

    unknown = {said for said in found if (said not in told if said[2] else said[:2] not in codes)}
    assert found
    assert not unknown, "add these codes to the comments of error_reason.proto"


def test_a_reason_that_the_services_never_give_is_not_kept() -> None:
    given = {reason for reason, _, _ in said_by_services()}
    text = "\n".join(path.read_text() for path in (ROOT / "services").rglob("*.py"))

    assert [reason for reason in Reason if reason not in given and f"Reason.{reason.name}" not in text] == []


def test_every_example_over_rest_says_where_it_goes(documented: dict[str, DocumentedReason]) -> None:
    """A typing error in an example's first word would silently take it out of the test that runs the examples."""
    for reason in documented.values():
        assert reason.rest_example or not re.search(r"^[A-Z]+ |/api/", reason.example), reason.name
