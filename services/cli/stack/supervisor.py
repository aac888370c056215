"""The supervisor of the local stack: starts the parts, says how they are, ends them in order."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable

import httpx2

from services.cli.stack import parts
from services.cli.stack.cluster import Cluster, ClusterError
from services.cli.stack.part import Part, PartSpec
from services.cli.stack.placement import PlacementError
from services.cli.stack.secrets import SecretsError, load_or_create
from services.cli.stack.settings import StackSettings
from services.cli.stack.state import (
    AlreadyRunningError,
    PartState,
    Phase,
    StackState,
    supervisor_lock,
    write_state,
)
from services.common import logs
from services.common.errors import DomainError
from services.common.postgres.migrate import MigrationError, migrate
from services.common.postgres.settings import Role
from services.common.settings import SettingsError, from_environment

START_SECONDS = 60.0
"""Longest start of the whole stack."""
_POLL_SECONDS = 0.05

_log = logging.getLogger("attest.supervisor")


class StartError(Exception):
    """The stack cannot start; the message says which part, why, and what its log said last."""


class Supervisor:
    """One run of the stack."""

    def __init__(self, settings: StackSettings) -> None:
        """Take where the stack lives."""
        self._settings = settings
        self._parts: list[Part] = []
        self._phase = Phase.STARTING
        self._error: str | None = None
        self._started_at = time.time()
        self._stop = asyncio.Event()
        self._watchers: list[asyncio.Task[None]] = []

    async def run(self) -> int:
        """Run until a signal; return the exit code of the process."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        self._tell(Phase.STARTING)
        try:
            started = await self._unless_stopped(self._start())
        except StartError as error:
            self._error = str(error)
            await self._end(Phase.FAILED)
            return 1
        if started:
            self._tell(Phase.READY)
            await self._stop.wait()
        await self._end(Phase.STOPPED)
        return 0

    async def _unless_stopped(self, starting: Awaitable[None]) -> bool:
        start = asyncio.ensure_future(starting)
        stop = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((start, stop), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not start.done():
            start.cancel()
            await asyncio.wait((start,))
            return False
        start.result()
        return True

    async def _start(self) -> None:
        settings = self._settings
        try:
            async with asyncio.timeout(START_SECONDS):
                secrets = load_or_create(settings.home)
                cluster = Cluster(settings.home, settings.pg_port, secrets, account_name=settings.pg_user)
                await asyncio.to_thread(cluster.prepare)
                database = await self._launch(parts.postgres(cluster))
                # The services load their model while the database starts, and wait for its schema.
                others = [await self._launch(spec) for spec in parts.services(settings, secrets, cluster)]
                others.append(await self._launch(parts.gateway(settings)))
                await self._alive(database, cluster.wait_ready(START_SECONDS))
                await self._migrate(cluster)
                await self._all_alive(others, self._gateway_ready())
        except TimeoutError:
            raise StartError(self._unready()) from None
        except (ClusterError, PlacementError, SecretsError, MigrationError, OSError) as error:
            raise StartError(str(error)) from error
        except DomainError as error:
            raise StartError(error.message) from error

    async def _launch(self, spec: PartSpec) -> Part:
        part = await Part.start(spec, self._settings.logs)
        self._parts.append(part)
        self._watchers.append(asyncio.create_task(self._watch(part)))
        self._tell(self._phase)
        return part

    async def _watch(self, part: Part) -> None:
        code = await part.wait()
        _log.warning("part ended", extra={"fields": {"part": part.spec.name, "code": code}})
        self._tell(self._phase)

    async def _migrate(self, cluster: Cluster) -> None:
        await migrate(cluster.role(Role.OWNER), superuser=cluster.superuser, passwords=cluster.passwords)

    async def _gateway_ready(self) -> None:
        """Wait until Envoy finds every service healthy."""
        async with httpx2.AsyncClient(trust_env=False, timeout=2) as client:
            while True:
                with contextlib.suppress(httpx2.HTTPError):
                    response = await client.get(f"{self._settings.gateway_url}/readyz")
                    if response.status_code == 200:
                        return
                await asyncio.sleep(_POLL_SECONDS)

    async def _alive(self, part: Part, waiting: Awaitable[None]) -> None:
        await self._all_alive([part], waiting)

    async def _all_alive(self, watched: list[Part], waiting: Awaitable[None]) -> None:
        """Wait, unless one of the parts dies meanwhile."""
        goal = asyncio.ensure_future(waiting)
        ends = {asyncio.ensure_future(part.wait()): part for part in watched}
        try:
            await asyncio.wait((goal, *ends), return_when=asyncio.FIRST_COMPLETED)
            for end, part in ends.items():
                if end.done():
                    raise StartError(_death(part, end.result()))
            await goal
        finally:
            for task in (goal, *ends):
                task.cancel()
            await asyncio.wait((goal, *ends))

    def _unready(self) -> str:
        logs_of_parts = "\n".join(f"--- {part.spec.name}\n{part.last_lines(5)}" for part in self._parts)
        return f"The stack was not ready within {START_SECONDS:.0f} s. The last log lines:\n{logs_of_parts}"

    async def _end(self, last: Phase) -> None:
        self._phase = Phase.STOPPING
        self._tell(Phase.STOPPING)
        for watcher in self._watchers:
            watcher.cancel()
        # The door first, then those behind it, the database last.
        by_name = {part.spec.name: part for part in self._parts}
        for group in (("gateway",), ("answer",), ("retrieval", "ingest"), ("postgres",)):
            await asyncio.gather(*(self._end_part(by_name[name]) for name in group if name in by_name))
        self._tell(last)

    async def _end_part(self, part: Part) -> None:
        ended_before = part.exit_code is not None
        code = await part.stop()
        if not ended_before and code != 0:
            _log.warning("part did not end well", extra={"fields": {"part": part.spec.name, "code": code}})

    def _tell(self, phase: Phase) -> None:
        self._phase = phase
        now = {part.spec.name: _part_state(part, self._started_at) for part in self._parts}
        write_state(self._settings.home, StackState(phase, os.getpid(), self._started_at, now, self._error))


def _part_state(part: Part, started_at: float) -> PartState:
    state = "running" if part.exit_code is None else f"ended with {part.exit_code}"
    return PartState(part.pid, part.spec.port, state, started_at)


def _death(part: Part, code: int) -> str:
    return f"{part.spec.name} ended with {code} while starting. Its last log lines ({part.log}):\n{part.last_lines()}"


def _main(run: Callable[[StackSettings], int]) -> None:
    try:
        settings = from_environment(StackSettings)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    sys.exit(run(settings))


def _run(settings: StackSettings) -> int:
    logs.configure("supervisor")
    settings.logs.mkdir(parents=True, exist_ok=True)
    try:
        with supervisor_lock(settings.home):
            return asyncio.run(Supervisor(settings).run())
    except AlreadyRunningError:
        sys.stderr.write(f"Another supervisor runs the stack in {settings.home}.\n")
        return 1


if __name__ == "__main__":
    _main(_run)
