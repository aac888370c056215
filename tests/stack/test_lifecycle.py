"""A stack starts whole or not at all, and ends without a trace of trouble."""

import json
import os
import re
import shutil
import signal
import socket
from pathlib import Path

import pytest

from services.cli.local import STOPPED_WHILE_STARTING
from services.cli.stack.settings import DoorSettings
from services.cli.stack.state import Phase, read_state
from services.common.settings import from_environment
from tests.stack.local_stack import COMMAND_SECONDS, LocalStack
from tests.stack.processes import eventually, processes_of

pytestmark = pytest.mark.stack


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_up_twice_and_down_twice_say_so(own_stack: LocalStack) -> None:
    own_stack.up()
    again = own_stack.attest("up")
    first, second = own_stack.attest("down"), own_stack.attest("down")

    assert (again.returncode, first.returncode, second.returncode) == (0, 0, 0)
    assert "running already" in again.stdout
    assert "is down" in first.stdout
    assert "was not running" in second.stdout
    assert processes_of(own_stack) == []


def test_other_settings_than_those_it_runs_with_are_named(own_stack: LocalStack) -> None:
    own_stack.up()
    ports = {**own_stack.ports, "HTTP": own_stack.ports["HTTP"] + 1, "PG": own_stack.ports["PG"] + 1}
    other = LocalStack(own_stack.home, ports, {"RATE_LIMIT_PER_MINUTE": "100"})
    same, again = own_stack.attest("up"), other.attest("up")

    assert (same.returncode, same.stderr) == (0, "")
    assert (again.returncode, own_stack.url in again.stdout) == (0, True)
    for name in ("ATTEST_HTTP_PORT", "ATTEST_PG_PORT", "ATTEST_RATE_LIMIT_PER_MINUTE"):
        assert name in again.stderr
    assert "ATTEST_ANSWER_PORT" not in again.stderr


def test_a_stack_whose_home_was_deleted_ends(own_stack: LocalStack) -> None:
    own_stack.up()
    pids = [part["pid"] for part in own_stack.state()["parts"].values()] + [own_stack.state()["pid"]]
    shutil.rmtree(own_stack.home)

    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), 60)
    assert not own_stack.home.exists()


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


@pytest.mark.parametrize("after", [Phase.STARTING, "postgres", "gateway"])
def test_a_start_that_is_told_to_end_leaves_nothing(own_stack: LocalStack, after: str) -> None:
    """SIGTERM while the supervisor begins, while the database starts, and while all parts are there."""
    starting = own_stack.begin("up")
    assert eventually(lambda: _begun(own_stack, after), 60)
    starting.send_signal(signal.SIGTERM)
    _, said = starting.communicate(timeout=COMMAND_SECONDS)

    assert (starting.returncode, said) == (143, f"attest: {STOPPED_WHILE_STARTING}\n")
    assert processes_of(own_stack) == []
    assert own_stack.attest("status").returncode == 3


def _begun(stack: LocalStack, what: str) -> bool:
    state = read_state(stack.home)
    return state is not None and (what == state.phase or what in state.parts)


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("bind", ["::1", "::"])
def test_a_stack_listens_on_addresses_of_ipv6(own_stack: LocalStack, bind: str) -> None:
    bound = LocalStack(own_stack.home, own_stack.ports, {"BIND": bind})
    bound.up()
    listed = bound.attest("documents")

    assert (listed.returncode, listed.stdout.split(".")[0]) == (0, "No documents"), listed.stderr
    assert bound.state()["gateway"] == from_environment(DoorSettings, bound.environment).gateway_url


def test_a_wrong_setting_stops_a_start_and_nothing_else(own_stack: LocalStack) -> None:
    own_stack.up()
    wrong = LocalStack(own_stack.home, own_stack.ports, {"GUARD": "perhaps", "BIND": "here", "LOG_GENERATIONS": "0"})
    up, status, logs = (wrong.attest(word) for word in ("up", "status", "logs"))
    down = wrong.attest("down")

    assert (up.returncode, "Traceback" in up.stderr, len(up.stderr.splitlines())) == (2, False, 1)
    assert (status.returncode, logs.returncode, down.returncode) == (0, 0, 0), status.stderr + logs.stderr
    assert own_stack.url in status.stdout
    assert processes_of(own_stack) == []


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
