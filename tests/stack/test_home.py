"""A home can be moved, is upgraded, and is never served half or by the wrong Attest."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from tests.stack.local_stack import LocalStack
from tests.stack.processes import processes_of

pytestmark = pytest.mark.stack

BEES = {"source_url": "b.md", "content": "# Bees\n\nThe hive of the bees is on the roof of the house.\n"}


def test_a_home_that_was_moved_and_is_older_than_stamps_is_served(own_stack: LocalStack) -> None:
    own_stack.up()
    own_stack.post("/api/documents", BEES)
    own_stack.attest("down")
    moved = LocalStack(own_stack.home.with_name("moved"), own_stack.ports, {})
    own_stack.home.rename(moved.home)
    (moved.home / "version.json").unlink()
    moved.up()
    outcome = moved.post("/api/documents", BEES).body["outcome"]
    moved.attest("down")

    assert outcome == "UNCHANGED"
    assert json.loads((moved.home / "version.json").read_text())["schema"] >= "0005"


def test_an_unfinished_start_is_healed_and_what_cannot_be_is_named(own_stack: LocalStack) -> None:
    """Folders half made by a start that was killed; then secrets gone, damaged, and a newer Attest."""
    own_stack.home.mkdir(mode=0o755)
    unfinished = own_stack.home / "postgres" / "data.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18")
    own_stack.up()
    own_stack.attest("down")
    secrets = own_stack.home / "secrets.json"
    kept = secrets.read_bytes()

    secrets.unlink()
    gone = own_stack.attest("up")
    secrets.write_bytes(kept[:100])
    damaged = own_stack.attest("up")
    status = own_stack.attest("status")
    secrets.write_bytes(kept)
    stamp = own_stack.home / "version.json"
    stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "attest": "7.0.0", "schema": "9999"}))
    newer = own_stack.attest("up")

    assert "secrets.json lacks superuser_password, question_salt, content_key" in gone.stderr
    assert "secrets.json is damaged; restore it from a backup" in damaged.stderr
    assert status.returncode == 3
    assert "was last used by Attest 7.0.0, which is newer than this one" in newer.stderr
    assert (gone.returncode, damaged.returncode, newer.returncode) == (1, 1, 1)
    assert secrets.read_bytes() == kept
    assert processes_of(own_stack) == []


def test_a_pid_file_of_a_dead_postgres_stops_nobody(own_stack: LocalStack) -> None:
    """The pid in it belongs to another process by now, as after a restart of a container."""
    own_stack.up()
    own_stack.attest("down")
    data = own_stack.home / "postgres" / "data"
    owner = data.stat()
    # Postgres itself takes the pid of another account for nobody's.
    account: dict[str, Any] = (
        {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    )
    with subprocess.Popen(["sleep", "300"], cwd="/", **account) as other:  # noqa: S607
        (data / "postmaster.pid").write_text(f"{other.pid}\n{data}\n1\n1\n\n127.0.0.1\n\nready\n")
        shutil.chown(data / "postmaster.pid", owner.st_uid, owner.st_gid)
        try:
            own_stack.up()
            assert own_stack.state()["whole"]
        finally:
            other.kill()
