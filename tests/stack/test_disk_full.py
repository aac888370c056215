"""On a full disk documents are refused by name and the old ones are served; with room again all is well."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.stack.local_stack import BIN, COMMAND_SECONDS, PORTS, LocalStack, free_ports, temporary_home
from tests.stack.processes import eventually

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(
        os.geteuid() != 0
        or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0,  # noqa: S607
        reason="needs root and a mount namespace of its own for a small disk",
    ),
]

BEES = {"source_url": "b.md", "content": "# Bees\n\nThe hive of the bees is on the roof of the house.\n"}
MOVED = {"source_url": "b.md", "content": "# Bees\n\nThe hive of the bees is in the cellar of the house.\n"}
QUESTION = {"question": "Where is the hive of the bees?"}
DISK_MB = 320
MOUNT = 'mount -t tmpfs -o "size=$2m,mode=755" small "$1" && echo mounted && exec sleep infinity'


@dataclass(frozen=True)
class SmallDisk(LocalStack):
    """A stack whose home is on a disk of its own, which only processes of its namespace see."""

    inside: int = 0

    def attest(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command in the namespace."""
        return self.run(BIN / "attest", *arguments)

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run anything in the namespace."""
        return subprocess.run(
            ["nsenter", "-t", str(self.inside), "-m", *command],  # noqa: S607
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    def fill(self, leave_mb: int) -> None:
        """Leave so much room on the disk."""
        root = f"/proc/{self.inside}/root{self.home.parent}"
        free = shutil.disk_usage(root).free
        done = self.run(
            "fallocate", "-l", str(free - leave_mb * 1024 * 1024), str(self.home.parent / f"filler-{leave_mb}")
        )
        assert done.returncode == 0, done.stderr

    def drain(self) -> None:
        """Give the room back."""
        self.run("sh", "-c", 'rm "$1"/filler-*', "sh", self.home.parent)


@pytest.fixture
def small() -> Iterator[SmallDisk]:
    """A stack on a small disk."""
    with temporary_home() as home:
        keeper = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", MOUNT, "sh", str(home.parent), str(DISK_MB)],  # noqa: S607
            stdout=subprocess.PIPE,
            text=True,
        )
        with keeper:
            assert keeper.stdout is not None
            assert keeper.stdout.readline() == "mounted\n"
            ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
            made = SmallDisk(home, ports, {"DISK_RESERVE_MB": "32", "RATE_LIMIT_PER_MINUTE": "1000"}, keeper.pid)
            try:
                yield made
            finally:
                made.attest("down")
                keeper.kill()


def test_a_full_disk_is_named_the_old_version_is_served_and_room_heals_it(small: SmallDisk) -> None:
    small.up()
    assert small.post("/api/documents", BEES).status == 200

    small.fill(16)
    assert eventually(lambda: bool(small.state()["warning"]))
    refused = small.post("/api/documents", MOVED)
    status = small.attest("status")
    small.fill(0)
    answer = small.post("/api/answer", QUESTION)
    unchanged = small.post("/api/documents", BEES)

    assert (refused.status, refused.body["reason"]) == (429, "STORAGE_FULL")
    assert "has less than 32 MB free" in status.stdout
    assert (answer.body["outcome"], "roof" in answer.body["answer"]) == ("ANSWERED", True)
    assert unchanged.body["outcome"] == "UNCHANGED"

    small.drain()
    assert eventually(lambda: small.post("/api/documents", MOVED).body.get("outcome") == "REPLACED")
    assert "cellar" in small.post("/api/answer", QUESTION).body["answer"]
    assert small.state()["warning"] is None


def test_a_start_on_a_full_disk_says_so(small: SmallDisk) -> None:
    small.up()
    small.attest("down")
    small.fill(8)
    refused = small.attest("up")
    small.drain()
    again = small.attest("up")

    assert refused.returncode == 1
    assert "MB free and Postgres needs 32 MB to start; free some space" in refused.stderr
    assert again.returncode == 0, again.stderr
