"""A stack starts whole or not at all, and ends without a trace of trouble."""

import json
import os
import re
import signal
import socket
from pathlib import Path

import pytest

from tests.stack.local_stack import LocalStack
from tests.stack.processes import eventually, processes_of

pytestmark = pytest.mark.stack


def test_up_twice_and_down_twice_say_so(own_stack: LocalStack) -> None:
    own_stack.up()
    again = own_stack.attest("up")
    first, second = own_stack.attest("down"), own_stack.attest("down")

    assert (again.returncode, first.returncode, second.returncode) == (0, 0, 0)
    assert "running already" in again.stdout
    assert "is down" in first.stdout
    assert "was not running" in second.stdout
    assert processes_of(own_stack) == []


def test_each_part_ends_well_when_it_is_told_to(own_stack: LocalStack) -> None:
    """F47: exit code 0 and no traceback, for every part, when idle; nobody told the supervisor, so it starts again."""
    own_stack.up()
    for name, part in own_stack.state()["parts"].items():
        os.kill(part["pid"], signal.SIGINT if name == "postgres" else signal.SIGTERM)
        assert eventually(lambda name=name: own_stack.state()["parts"][name]["restarts"] == 1), name
        assert own_stack.state()["parts"][name]["last_end"] == "ended with 0", name
    own_stack.attest("down")

    for log in (own_stack.home / "logs").glob("*.log"):
        assert "Traceback" not in log.read_text(), log
    assert processes_of(own_stack) == []


def test_nothing_outlives_a_killed_supervisor(own_stack: LocalStack) -> None:
    own_stack.up()
    os.kill(own_stack.state()["pid"], signal.SIGKILL)

    assert eventually(lambda: processes_of(own_stack) == [], 30)
    own_stack.up()


@pytest.mark.parametrize("name", ["HTTP", "PG", "RETRIEVAL"])
def test_a_taken_port_is_named_with_its_variable(own_stack: LocalStack, name: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", own_stack.ports[name]))
        taken.listen()
        done = own_stack.attest("up")

    assert done.returncode == 1
    assert f"Port {own_stack.ports[name]} (ATTEST_{name}_PORT) is taken" in done.stderr
    assert processes_of(own_stack) == []


def test_a_part_that_dies_at_start_shows_its_last_log_lines(own_stack: LocalStack) -> None:
    broken = LocalStack(own_stack.home, own_stack.ports, {"GATE_MIN_COSINE": "seven"})
    done = broken.attest("up")

    assert done.returncode == 1
    assert "answer ended with 2 while starting" in done.stderr
    assert "ATTEST_GATE_MIN_COSINE is not a number" in done.stderr
    assert processes_of(broken) == []


def test_two_stacks_side_by_side_do_not_disturb_each_other(stack: LocalStack, own_stack: LocalStack) -> None:
    own_stack.up()
    own_stack.post("/api/documents", {"source_url": "b.md", "content": "# Bees\n\nThe hive is on the roof.\n"})
    there = own_stack.post("/api/answer", {"question": "Where is the hive of the bees?"})
    here = stack.post("/api/answer", {"question": "Where is the hive of the bees?"})
    own_stack.attest("down")

    assert (there.body["outcome"], here.body["outcome"]) == ("ANSWERED", "NO_EVIDENCE")
    assert stack.attest("status").returncode == 0


def test_documents_are_there_after_a_restart(own_stack: LocalStack) -> None:
    own_stack.up()
    document = {"source_url": "b.md", "content": "# Bees\n\nThe hive is on the roof.\n"}
    own_stack.post("/api/documents", document)
    own_stack.attest("down")
    own_stack.up()

    assert own_stack.post("/api/documents", document).body["outcome"] == "UNCHANGED"


def test_secrets_are_readable_by_their_owner_alone(stack: LocalStack) -> None:
    assert (stack.home / "secrets.json").stat().st_mode & 0o777 == 0o600
    secrets = json.loads((stack.home / "secrets.json").read_text())
    command_lines = " ".join(" ".join(process.cmdline()) for process in processes_of(stack))
    written = "".join(log.read_text() for log in (stack.home / "logs").glob("*.log"))
    for value in secrets.values():
        assert value not in command_lines
        assert value not in written


def test_no_part_may_leave_a_core(stack: LocalStack) -> None:
    """A core holds whatever was being asked."""
    for name, part in stack.state()["parts"].items():
        limits = Path(f"/proc/{part['pid']}/limits").read_text()
        assert re.search(r"Max core file size +0 +0 ", limits), name
