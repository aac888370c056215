"""A stack looks after itself: what ends is started again, what cannot run is named, and what was killed is healed."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.stack.local_stack import BIN, LocalStack, temporary_home
from tests.stack.processes import eventually, processes_of

pytestmark = pytest.mark.stack

BEES = {"source_url": "b.md", "content": "# Bees\n\nThe hive of the bees is on the roof of the house.\n"}
QUESTION = {"question": "Where is the hive of the bees?"}


@pytest.fixture(scope="module")
def kept() -> Iterator[LocalStack]:
    """A running stack with one document that the tests break and that mends itself."""
    with temporary_home() as home:
        made = LocalStack.in_folder(
            home, RATE_LIMIT_PER_MINUTE="100000", LOG_MAX_BYTES="4096", LOG_GENERATIONS="2", DISK_RESERVE_MB="1"
        )
        made.up()
        try:
            assert made.post("/api/documents", BEES).status == 200
            yield made
        finally:
            made.attest("down")


def _part(stack: LocalStack, name: str) -> dict[str, object]:
    part: dict[str, object] = stack.state()["parts"][name]
    return part


def _kill(stack: LocalStack, name: str, number: int = signal.SIGKILL) -> None:
    pid = _part(stack, name)["pid"]
    assert isinstance(pid, int)
    os.kill(pid, number)


def _answers(stack: LocalStack) -> bool:
    try:
        return stack.post("/api/answer", QUESTION).body.get("outcome") == "ANSWERED"
    except (OSError, ValueError):
        return False
    except Exception as error:
        if type(error).__module__.startswith("httpx2"):
            return False
        raise


@pytest.mark.parametrize("name", ["answer", "retrieval", "gateway", "postgres", "ingest"])
def test_a_part_that_is_killed_comes_back_and_the_stack_answers_again(kept: LocalStack, name: str) -> None:
    before = _part(kept, name)
    _kill(kept, name)

    assert eventually(lambda: _part(kept, name)["restarts"] == before["restarts"] + 1, 30)  # type: ignore[operator]
    assert eventually(lambda: _answers(kept), 30)
    assert eventually(lambda: kept.post("/api/documents", BEES).body.get("outcome") == "UNCHANGED", 30)
    after = _part(kept, name)
    assert after["pid"] != before["pid"]
    assert str(after["last_end"]).startswith("killed by SIGKILL")


def test_the_status_works_while_the_database_does_not(kept: LocalStack) -> None:
    _kill(kept, "postgres", signal.SIGSTOP)
    try:
        said = kept.attest("status").stdout
        told = kept.state()
    finally:
        _kill(kept, "postgres", signal.SIGCONT)

    assert "documents  database down: The database took too long" in said
    assert (told["documents"], told["phase"]) == (None, "ready")
    assert eventually(lambda: kept.state()["documents"] == 1)


def test_the_status_says_what_the_stack_is_and_holds(kept: LocalStack) -> None:
    assert eventually(lambda: kept.state()["whole"])
    told = kept.state()

    assert (told["documents"], told["chunks"]) == (1, 1)
    assert told["embedding_space"]["dimensions"] == 384
    assert all(told["versions"][name] for name in ("attest", "postgres", "pgvector", "envoy"))
    assert told["disk"]["data_bytes"] > told["disk"]["logs_bytes"] > 0
    assert max(len(line) for line in kept.attest("status").stdout.splitlines()) <= 80


def test_logs_stay_within_their_bounds_while_parts_write(kept: LocalStack) -> None:
    def set_aside() -> bool:
        kept.post("/api/answer", QUESTION)
        return all((kept.home / "logs" / f"{name}.log.1").exists() for name in ("answer", "access"))

    assert eventually(set_aside, 60)
    assert not list((kept.home / "logs").glob("*.log.2"))
    # What is written after the cut begins where the file begins: no hole in front of it.
    assert eventually(lambda: (kept.home / "logs" / "answer.log").stat().st_size < 4096)
    kept.post("/api/answer", QUESTION)
    assert eventually(lambda: (kept.home / "logs" / "answer.log").read_bytes()[:1] == b"{")


def test_a_part_that_cannot_run_stays_down_while_the_rest_goes_on(kept: LocalStack) -> None:
    """Five restarts in five minutes; then the status says why, and `attest up` starts it again."""
    killed = None
    deadline = time.monotonic() + 60
    while (part := _part(kept, "answer"))["state"] != "down" and time.monotonic() < deadline:
        if part["pid"] and part["pid"] != killed:
            killed = part["pid"]
            os.kill(int(str(killed)), signal.SIGKILL)
    status = kept.attest("status")
    searched = kept.post("/api/search", {"query": "hive"})
    again = kept.attest("up")

    assert (part["state"], status.returncode) == ("down", 3)
    assert "answer: killed by SIGKILL" in status.stdout
    assert f"Its last log lines ({kept.home}/logs/answer.log)" in status.stdout.replace("\n", "")
    assert searched.status == 200
    assert (again.returncode, kept.attest("status").returncode) == (0, 0), again.stderr
    assert _answers(kept)


def test_a_state_file_that_is_damaged_hinders_nobody(kept: LocalStack) -> None:
    (kept.home / "state.json").write_bytes(b'{"phase": "ready", "par\x00\xff')

    assert "Attest is down." in kept.attest("down").stdout
    assert processes_of(kept) == []
    kept.up()
    assert _answers(kept)


def test_up_heals_after_the_supervisor_was_killed(kept: LocalStack) -> None:
    """What the killed one left holds its ports until somebody kills it; that is not somebody else's."""
    _kill(kept, "answer", signal.SIGSTOP)
    os.kill(kept.state()["pid"], signal.SIGKILL)
    kept.up()

    assert _answers(kept)
    assert kept.state()["whole"]


def test_down_ends_what_a_killed_supervisor_left(kept: LocalStack) -> None:
    os.kill(kept.state()["pid"], signal.SIGKILL)
    kept.attest("down")

    assert processes_of(kept) == []
    kept.up()


def test_two_commands_at_the_same_moment_start_one_stack(own_stack: LocalStack) -> None:
    """In a home with a blank in its name, given by a relative path."""
    own_stack.home.parent.joinpath("a b").mkdir(mode=0o755)
    environment = {**own_stack.environment, "ATTEST_HOME": "a b"}
    both = [
        subprocess.Popen(
            [BIN / "attest", "up"], cwd=own_stack.home.parent, env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = sorted(process.communicate(timeout=120)[0] for process in both)
    there = LocalStack(own_stack.home.parent / "a b", own_stack.ports, {})
    whole = there.state()["whole"]
    there.attest("down")

    assert [process.returncode for process in both] == [0, 0]
    assert [text.split(" after ")[0].split(":")[0] for text in said] == ["Attest is running already", "Attest is up"]
    assert whole
    assert not (there.home / "a b").exists()
    assert processes_of(there) == []
