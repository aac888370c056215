"""Where output goes that is full, or of an encoding without the signs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.gateway import ScriptedGateway

ATTEST = Path(sys.executable).parent / "attest"
FULL = Path("/dev/full")
REPLY = {"passages": [], "note": "Überschrift \U0001f600"}

DOCUMENT = {
    "document_id": "d1",
    "lane": "default",
    "source_url": "a.md",
    "title": "A",
    "media_type": "text/markdown",
    "version": 1,
    "chunk_count": 1,
    "update_time": "2026-11-30T21:00:00Z",
}


def command(gateway: ScriptedGateway, *arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ATTEST_HTTP_PORT": str(gateway.port), **settings.pop("environment", {})}
    return subprocess.run([ATTEST, *arguments], env=environment, text=True, timeout=60, check=False, **settings)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("--help",), ("search", "x", "--json"), ("search", "x")])
def test_output_that_cannot_be_written_is_a_failure_in_one_line(
    gateway: ScriptedGateway, arguments: tuple[str, ...]
) -> None:
    gateway.will("POST /api/search", 200, REPLY)
    with FULL.open("w") as full:
        done = command(gateway, *arguments, stdout=full, stderr=subprocess.PIPE)

    assert (done.returncode, done.stderr) == (1, "attest: Cannot write the output: No space left on device.\n")


def test_json_stays_json_where_the_output_is_of_ascii(gateway: ScriptedGateway) -> None:
    gateway.will("POST /api/search", 200, REPLY)
    done = command(gateway, "search", "x", "--json", capture_output=True, environment={"PYTHONIOENCODING": "ascii"})

    assert done.stdout.isascii()
    assert json.loads(done.stdout) == REPLY


def test_a_table_is_printed_where_the_output_is_of_ascii(gateway: ScriptedGateway) -> None:
    gateway.will("GET /api/documents", 200, {"documents": [{**DOCUMENT, "title": "Übersicht"}], "next_page_token": ""})
    done = command(gateway, "documents", capture_output=True, environment={"PYTHONIOENCODING": "ascii"})

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert r"\xdcbersicht" in done.stdout
