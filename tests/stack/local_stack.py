"""A local stack of a test: a home and ports of its own, driven by the `attest` command as a person would."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

BIN = Path(sys.executable).parent
PORTS = ("HTTP", "ADMIN", "INGEST", "RETRIEVAL", "ANSWER", "AUTH", "PG")
COMMAND_SECONDS = 90
_PORTS = (10_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago, all different.

    They lie below those that the kernel gives to outgoing connections, any of which could take one meanwhile.
    """
    chance = random.SystemRandom()
    found: set[int] = set()
    while len(found) < count:
        port = chance.randrange(*_PORTS)
        if _is_free(port):
            found.add(port)
    return sorted(found)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Make a folder that the account of Postgres may enter, which pytest's own are not when root runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="attest-test-"))
    folder.chmod(0o755)
    yield folder / "home"
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Reply:
    """What the gateway answered."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass(frozen=True)
class LocalStack:
    """Where a stack lives, and ways to use it."""

    home: Path
    ports: dict[str, int]
    settings: dict[str, str]

    @classmethod
    def in_folder(cls, home: Path, **settings: str) -> "LocalStack":
        """Choose free ports for a stack in `home`; `settings` are further `ATTEST_` variables without the prefix."""
        ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        return cls(home, ports, settings)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of its commands."""
        own = {f"ATTEST_{name}_PORT": str(port) for name, port in self.ports.items()}
        more = {f"ATTEST_{name}": value for name, value in self.settings.items()}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ATTEST_")}
        return {**kept, "ATTEST_HOME": str(self.home), **own, **more}

    @property
    def url(self) -> str:
        """Return the gateway's address."""
        return f"http://127.0.0.1:{self.ports['HTTP']}"

    def attest(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command and return what it said."""
        return subprocess.run(
            [BIN / "attest", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Begin the command and return its process."""
        return subprocess.Popen(
            [BIN / "attest", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def up(self) -> None:
        """Start the stack or fail with what was said."""
        done = self.attest("up")
        assert done.returncode == 0, done.stderr

    def state(self) -> dict[str, Any]:
        """Return what `attest status --json` says."""
        said = self.attest("status", "--json")
        assert said.stdout, said.stderr
        state: dict[str, Any] = json.loads(said.stdout)
        return state

    def post(self, path: str, body: Any, **headers: str) -> Reply:
        """Send JSON, or raw text when `body` is a str."""
        content = body if isinstance(body, str) else json.dumps(body)
        sent = {"content-type": "application/json", **headers}
        response = httpx2.post(f"{self.url}{path}", content=content.encode(), headers=sent, timeout=60, trust_env=False)
        return Reply(response.status_code, response.json(), dict(response.headers))

    def grpcurl(self, port: str, method: str, body: Any, *options: str) -> tuple[int, dict[str, Any], str]:
        """Call a method with grpcurl by reflection; return exit code, response and stderr."""
        done = subprocess.run(
            [BIN / "grpcurl", "-plaintext", *options, "-d", json.dumps(body), f"127.0.0.1:{self.ports[port]}", method],
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr
