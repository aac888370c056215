"""Whatever is killed and whenever: `attest up` heals, nothing is left behind, no document is there by half.

Four rounds here; `make chaos` plays thirty.
"""

import asyncio
import os
import random
import signal
import subprocess
import threading
import time

import asyncpg
import httpx2
import pytest

from services.cli.stack.cluster import Cluster
from services.cli.stack.secrets import load_or_create
from services.common.postgres.settings import DATABASE
from tests.stack.local_stack import BIN, LocalStack
from tests.stack.processes import eventually, processes_of

pytestmark = pytest.mark.stack

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "4"))
SEED = int(os.environ.get("CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
VICTIMS = ("postgres", "ingest", "retrieval", "answer", "gateway", "supervisor", "start")
HALF_THERE = """
SELECT count(*) FROM attest.documents d
WHERE d.chunk_count <> (SELECT count(*) FROM attest.rag_docs c
                        WHERE (c.tenant, c.document_id) = (d.tenant, d.document_id))
  OR d.char_count <> (SELECT sum(length(t.text)) FROM attest.document_texts t
                      WHERE (t.tenant, t.document_id) = (d.tenant, d.document_id))
"""
MISCOUNTED = "SELECT (SELECT sum(chunks) FROM attest.chunk_counts) <> (SELECT count(*) FROM attest.rag_docs)"


def _document(number: int, version: int) -> dict[str, str]:
    body = "\n\n".join(f"# Part {part}\n\nHive {number} has {version} bees in room {part}." for part in range(4))
    return {"source_url": f"{number}.md", "content": body}


class _Writer:
    """Ingests versions of five documents until told to stop, whatever the stack says."""

    def __init__(self, stack: LocalStack) -> None:
        self._stack = stack
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(90)

    def _run(self) -> None:
        version = 0
        while not self._stop.is_set():
            version += 1
            for number in range(5):
                try:
                    self._stack.post("/api/documents", _document(number, version))
                except (httpx2.HTTPError, OSError, ValueError):
                    self._stop.wait(0.1)


def _strike(stack: LocalStack, victim: str, dice: random.Random) -> None:
    """Kill a part, the supervisor, or a start that is under way."""
    if victim == "start":
        os.kill(stack.state()["pid"], signal.SIGKILL)
        starting = subprocess.Popen([BIN / "attest", "up"], env=stack.environment, stderr=subprocess.DEVNULL)
        assert eventually(lambda: bool(stack.state()["pid"]) or starting.poll() is not None, 60)
        time.sleep(dice.uniform(0, 3))  # a random moment of the start, not a wait for anything
        pid = stack.state()["pid"]
        if pid:
            os.kill(pid, signal.SIGKILL)
        starting.kill()
        starting.wait()
        return
    state = stack.state()
    pid = state["pid"] if victim == "supervisor" else state["parts"][victim]["pid"]
    os.kill(pid, signal.SIGKILL)


async def _half_there(stack: LocalStack) -> tuple[int, bool]:
    way = Cluster(stack.home, stack.ports["PG"], load_or_create(stack.home)).superuser
    connection = await asyncpg.connect(
        host=way.host, port=way.port, user=way.user, password=way.password, database=DATABASE
    )
    try:
        return await connection.fetchval(HALF_THERE), bool(await connection.fetchval(MISCOUNTED))
    finally:
        await connection.close()


def test_whatever_is_killed_the_stack_heals(own_stack: LocalStack) -> None:
    dice = random.Random(SEED)  # noqa: S311  # chooses victims, guards nothing
    order = [victim for _ in range(0, ROUNDS, len(VICTIMS)) for victim in dice.sample(VICTIMS, len(VICTIMS))][:ROUNDS]
    stack = LocalStack(own_stack.home, own_stack.ports, {"DISK_RESERVE_MB": "1"})
    stack.up()
    assert stack.post("/api/documents", _document(0, 0)).status == 200
    for number, victim in enumerate(order):
        told = f"seed {SEED}, round {number}: {victim}"
        with _Writer(stack):
            time.sleep(dice.uniform(0, 1))  # a random moment of the ingest, not a wait for anything
            _strike(stack, victim, dice)
            done = stack.attest("up")
            assert done.returncode == 0, f"{told}\n{done.stderr}"
            assert eventually(lambda: stack.state()["whole"], 30), told
        answer = stack.post("/api/search", {"query": "How many bees are in hive 0?"})
        assert (answer.status, bool(answer.body.get("passages"))) == (200, True), f"{told}\n{answer.body}"
        assert asyncio.run(_half_there(stack)) == (0, False), told
    assert stack.attest("down").returncode == 0
    assert processes_of(stack) == []
