"""A Postgres for tests: the product's own cluster, in a folder and on a port of its own."""

import asyncio
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from services.cli.stack import secrets
from services.cli.stack.cluster import STOP_SIGNAL, Cluster, prepare
from services.common.postgres.migrate import migrate
from services.common.postgres.settings import DatabaseSettings, Role

START_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Server:
    """A cluster that may run, and what it logs."""

    cluster: Cluster

    @property
    def log(self) -> Path:
        return self.cluster.home / "postgres.log"

    @property
    def superuser(self) -> DatabaseSettings:
        return self.cluster.superuser

    def role(self, role: Role) -> DatabaseSettings:
        return self.cluster.role(role)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the server for the length of the block."""
        command = self.cluster.command()
        with self.log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *command.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **command.popen_arguments()
            )
        try:
            await self.cluster.wait_ready(START_TIMEOUT_S)
            yield
        finally:
            process.send_signal(STOP_SIGNAL)
            await asyncio.wait_for(process.wait(), START_TIMEOUT_S)

    async def migrate(self) -> str:
        """Migrate as `attest migrate` does."""
        return await migrate(self.role(Role.OWNER), superuser=self.superuser, passwords=self.cluster.passwords)


@asynccontextmanager
async def new_server() -> AsyncIterator[Server]:
    """Make a cluster that is not started yet, and remove it in the end."""
    home = new_home()
    try:
        server = Server(Cluster(home, free_port(), secrets.load_or_create(home), durable=False))
        await prepare(server.cluster)
        yield server
    finally:
        shutil.rmtree(home)


def new_home() -> Path:
    """Make a folder that the account of Postgres can enter, which matters when the tests run as root."""
    home = Path(tempfile.mkdtemp(prefix="attest-test-"))
    home.chmod(0o711)
    return home


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
