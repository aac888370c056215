"""A stack of the bench's own with a library in it, and ways into its database."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from services.common.postgres.codecs import register_codecs
from services.common.postgres.connect import connection
from services.common.postgres.settings import DATABASE, DatabaseSettings, Role
from services.common.vectors import Vector
from tests.stack.local_stack import LocalStack

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
QUESTIONS: list[str] = [each["question"] for each in json.loads((EXAMPLES / "questions.json").read_text("utf-8"))]

_SETTINGS = {"RATE_LIMIT_PER_MINUTE": "1000000"}
_PASSAGES = """
SELECT c.content, e.embedding FROM attest.rag_docs c JOIN attest.embeddings_1 e USING (chunk_id) ORDER BY chunk_id
"""


class StackError(Exception):
    """A command of the stack failed; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A running stack with the example documents in it."""

    local: LocalStack

    def database(self, role: Role) -> DatabaseSettings:
        """Return how to reach the database as a role."""
        password = self._secret(f"{role.value.removeprefix('attest_')}_password")
        return DatabaseSettings("127.0.0.1", self.local.ports["PG"], DATABASE, role.value, password)

    def server(self) -> DatabaseSettings:
        """Return how to reach the server as its superuser, who may make databases."""
        return DatabaseSettings(
            "127.0.0.1", self.local.ports["PG"], "postgres", "postgres", self._secret("superuser_password")
        )

    def _secret(self, name: str) -> str:
        secrets: dict[str, str] = json.loads((self.local.home / "secrets.json").read_text(encoding="utf-8"))
        return secrets[name]

    def address(self, service: str) -> str:
        """Return the gRPC target of a service by the name of its port."""
        return f"dns:///127.0.0.1:{self.local.ports[service]}"

    async def passages(self) -> tuple[list[str], Vector]:
        """Return text and vector of every passage."""
        async with connection(self.database(Role.OWNER)) as owner:
            await register_codecs(owner)
            await owner.execute("SELECT set_config('attest.tenant', 'default', false)")
            rows = await owner.fetch(_PASSAGES)
        return [row["content"] for row in rows], np.array([row["embedding"] for row in rows])


@contextmanager
def running() -> Iterator[Bench]:
    """Run a stack with the examples ingested for the length of the block, and leave nothing of it."""
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as folder:
        Path(folder).chmod(0o755)  # the account of Postgres must be able to enter
        local = LocalStack.in_folder(Path(folder) / "home", **_SETTINGS)
        try:
            _run(local, "up")
            _run(local, "ingest", str(EXAMPLES / "handbook"), str(EXAMPLES / "handbook-pdf"))
            yield Bench(local)
        finally:
            local.attest("down")


def _run(local: LocalStack, *arguments: str) -> None:
    done = local.attest(*arguments)
    if done.returncode:
        raise StackError(done.stderr.strip())
