"""`attest audit` tells what it found, without letting it steer the terminal, and exits accordingly."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from services.cli import audit as command
from services.common.postgres.audit import Audit, Finding, Heard
from services.common.postgres.settings import DatabaseSettings

DSN = "postgresql://auditor:secret@127.0.0.1:5432/attest"
WHOLE = Audit(documents=3, chunks=7, findings=())
FAULTY = Audit(3, 7, (Finding("a text belongs to no document", 12, (("acme\x1b[31m", "d-1"),)),))


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Audit]:
    """Let the command find what is in the list."""
    results: list[Audit] = []

    async def audit_database(way: DatabaseSettings, heard: Heard) -> Audit:
        assert way.user == "auditor"
        heard(7, 7)
        return results[0]

    monkeypatch.setattr(command, "audit_database", audit_database)
    return results


def test_a_whole_library_is_called_whole(found: list[Audit]) -> None:
    found.append(WHOLE)
    done = CliRunner().invoke(command.audit, ["--dsn", DSN])

    assert (done.exit_code, done.stdout) == (
        0,
        "3 documents, 7 chunks: whole, nothing left over, every passage quotes its document.\n",
    )


def test_a_finding_is_told_with_its_places_and_exits_with_1(found: list[Audit]) -> None:
    found.append(FAULTY)
    done = CliRunner().invoke(command.audit, ["--dsn", DSN])

    assert done.exit_code == 1
    assert "12  a text belongs to no document" in done.stdout
    assert "d-1" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_machine_gets_json(found: list[Audit]) -> None:
    found.append(FAULTY)
    done = CliRunner().invoke(command.audit, ["--dsn", DSN, "--json"])

    assert json.loads(done.stdout) == {
        "whole": False,
        "documents": 3,
        "chunks": 7,
        "findings": [
            {
                "what": "a text belongs to no document",
                "count": 12,
                "examples": [{"tenant": "acme\x1b[31m", "place": "d-1"}],
            }
        ],
    }


def test_without_a_stack_it_says_how_to_start_one(tmp_path: Path) -> None:
    done = CliRunner().invoke(command.audit, [], env={"ATTEST_HOME": str(tmp_path), "ATTEST_AUDIT_DSN": ""})

    assert done.exit_code == 3
    assert "attest up" in done.stderr


def test_a_dsn_that_is_none_is_a_wrong_call() -> None:
    done = CliRunner().invoke(command.audit, ["--dsn", "http://example"])

    assert done.exit_code == 2
    assert "ATTEST_AUDIT_DSN" in done.stderr
