"""The supervisor of the local stack: starts the parts, keeps them running, ends them in order."""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable

from services.cli.stack import parts
from services.cli.stack.cluster import Cluster, ClusterError
from services.cli.stack.environment import fingerprints
from services.cli.stack.home import HomeError, check_usable, raise_stamp
from services.cli.stack.keeper import Keeper, never_blocked
from services.cli.stack.leftovers import LeftoversError, parts_lock
from services.cli.stack.part import PartSpec
from services.cli.stack.placement import PlacementError, place
from services.cli.stack.rotation import rotate_all
from services.cli.stack.secrets import SecretsError, load_or_create
from services.cli.stack.settings import StackSettings
from services.cli.stack.space import SpaceWatch
from services.cli.stack.starting import StartError, all_alive, gateway_ready, unready
from services.cli.stack.state import (
    AlreadyRunningError,
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
_ROUND_SECONDS = 1.0
"""Pause between two looks at logs and disk."""

_log = logging.getLogger("attest.supervisor")


class Supervisor:
    """One run of the stack."""

    def __init__(self, settings: StackSettings, parts_lock_held: int) -> None:
        """Take where the stack lives, and the descriptor of the lock that its parts inherit."""
        self._settings = settings
        self._inherited = (parts_lock_held,)
        self._keepers: dict[str, Keeper] = {}
        self._phase = Phase.STARTING
        self._error: str | None = None
        self._started_at = time.time()
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._told = False
        self._cluster: Cluster | None = None
        self._given = fingerprints(os.environ)
        self._space = SpaceWatch(settings.home, settings.disk_reserve_mb * 1024 * 1024)

    async def run(self) -> int:
        """Run until a signal; return the exit code of the process."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, self._ask_all)
        self._tell(Phase.STARTING)
        try:
            started = await self._unless_stopped(self._start())
        except StartError as error:
            self._error = str(error)
            await self._end(Phase.FAILED)
            return 1
        if started:
            self._tasks = [asyncio.create_task(keeper.keep()) for keeper in self._keepers.values()]
            self._tasks.append(asyncio.create_task(self._rounds()))
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
                cluster = await asyncio.to_thread(self._prepare)
                database = await self._launch(parts.postgres(cluster), self._space.too_full_to_start)
                # The services load their model while the database starts, and wait for its schema.
                specs = [*parts.services(settings, cluster.secrets, cluster), parts.gateway(settings)]
                others = [await self._launch(spec) for spec in specs]
                await all_alive([database.part], cluster.wait_ready(START_SECONDS))
                await migrate(cluster.role(Role.OWNER), superuser=cluster.superuser, passwords=cluster.passwords)
                await asyncio.to_thread(raise_stamp, settings.home)
                await all_alive([other.part for other in others], gateway_ready(settings.gateway_url))
        except TimeoutError:
            raise StartError(unready([keeper.part for keeper in self._keepers.values()], START_SECONDS)) from None
        except (ClusterError, PlacementError, SecretsError, HomeError, MigrationError, SettingsError, OSError) as error:
            raise StartError(str(error)) from error
        except DomainError as error:
            raise StartError(error.message) from error

    def _prepare(self) -> Cluster:
        """Make or heal what the home holds; blocks for seconds the first time."""
        settings = self._settings
        rotate_all(settings.logs, settings.log_limits)
        check_usable(settings.home)
        reason = self._space.too_full_to_start()
        if reason is not None:
            raise StartError(f"Attest cannot start: {reason}.")
        has_data = place(settings.home, settings.pg_user).data.exists()
        secrets = load_or_create(settings.home, has_data=has_data)
        cluster = Cluster(settings.home, settings.pg_port, secrets, account_name=settings.pg_user)
        cluster.prepare()
        self._space.folder = cluster.data
        self._cluster = cluster
        return cluster

    async def _launch(self, spec: PartSpec, blocked: Callable[[], str | None] = never_blocked) -> Keeper:
        keeper = Keeper(spec, self._settings.logs, inherited=self._inherited, changed=self._tell_again, blocked=blocked)
        await keeper.start()
        self._keepers[spec.name] = keeper
        self._tell(self._phase)
        return keeper

    async def _rounds(self) -> None:
        """Look after logs, disk and the state file for as long as the stack runs."""
        while True:
            if self._is_home_gone():
                # Nobody could find the stack any more to stop it, and what it writes would come back as a new folder.
                self._stop.set()
                return
            await asyncio.to_thread(rotate_all, self._settings.logs, self._settings.log_limits)
            await self._look_at_space()
            if not self._told:
                self._tell(self._phase)
            await asyncio.sleep(_ROUND_SECONDS)

    async def _look_at_space(self) -> None:
        if self._cluster is None or not await asyncio.to_thread(self._space.look):
            return
        _log.warning("disk", extra={"fields": {"low": self._space.low}})
        try:
            await asyncio.to_thread(self._cluster.configure, read_only=self._space.low)
            pid = self._keepers["postgres"].state.pid
            if pid is not None:
                os.kill(pid, signal.SIGHUP)
        except OSError as error:
            _log.error("postgres not told of the disk", extra={"fields": {"error": error.strerror}})
            self._space.low = not self._space.low  # so that the next round tries again
        self._tell(self._phase)

    def _is_home_gone(self) -> bool:
        """Say whether somebody deleted the home, and the lock in it, under the running stack."""
        return os.fstat(self._inherited[0]).st_nlink == 0

    def _ask_all(self) -> None:
        for keeper in self._keepers.values():
            keeper.ask()

    async def _end(self, last: Phase) -> None:
        self._tell(Phase.STOPPING)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # The door first, then those behind it, the database last.
        for group in (("gateway",), ("answer",), ("retrieval", "ingest"), ("postgres",)):
            await asyncio.gather(*(self._keepers[name].stop() for name in group if name in self._keepers))
        self._tell(last)

    def _tell_again(self) -> None:
        self._tell(self._phase)

    def _tell(self, phase: Phase) -> None:
        """Write the state down; where the disk has no room for it, the next round tries again."""
        self._phase = phase
        if self._is_home_gone():
            return
        now = {name: keeper.state for name, keeper in self._keepers.items()}
        url = self._settings.gateway_url
        state = StackState(
            phase, os.getpid(), self._started_at, now, self._space.warning(), self._error, url, self._given
        )
        try:
            write_state(self._settings.home, state)
            self._told = True
        except OSError as error:
            self._told = False
            _log.error("state not written", extra={"fields": {"error": error.strerror}})


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
        with supervisor_lock(settings.home), parts_lock(settings.home) as held:
            return asyncio.run(Supervisor(settings, held).run())
    except AlreadyRunningError:
        sys.stderr.write(f"Another supervisor runs the stack in {settings.home}.\n")
    except LeftoversError as error:
        sys.stderr.write(f"{error}\n")
    return 1


if __name__ == "__main__":
    _main(_run)
