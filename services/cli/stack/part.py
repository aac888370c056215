"""One supervised process: started with its log, watched, stopped within a bound, dead when its supervisor is."""

import asyncio
import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class PartSpec:
    """How to run a part."""

    name: str
    port: int
    argv: Sequence[str]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 25.0
    """Time that it gets to end after its signal before it is killed."""
    account: Mapping[str, Any] = field(default_factory=dict)
    """`user`, `group`, `extra_groups` of the process, where it must not be ours."""


class Part:
    """A running part."""

    def __init__(self, spec: PartSpec, process: asyncio.subprocess.Process, log: Path, log_start: int = 0) -> None:
        """Take what `start` made; what stands in the log before `log_start` is of earlier runs."""
        self.spec = spec
        self.log = log
        self._log_start = log_start
        self._process = process

    @classmethod
    async def start(cls, spec: PartSpec, logs: Path, inherited: Sequence[int] = ()) -> "Part":
        """Start the process with its output at the end of `logs/<name>.log`; raise OSError when it cannot run.

        `inherited` are descriptors that it keeps open for as long as it lives.
        """
        log = logs / f"{spec.name}.log"
        with log.open("ab") as output:
            log_start = output.tell()
            process = await asyncio.create_subprocess_exec(
                *spec.argv,
                env=dict(spec.env),
                cwd=spec.cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # A terminal's Ctrl-C is for the supervisor; the parts are told in order.
                start_new_session=True,
                preexec_fn=die_with(os.getpid(), spec.stop_signal),  # calls prctl and nothing else
                pass_fds=tuple(inherited),
                **spec.account,
            )
        return cls(spec, process, log, log_start)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return how it ended; None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for its end and return how it ended."""
        return await self._process.wait()

    async def stop(self) -> int:
        """Ask it to end, kill it when it does not within its bound, and return how it ended."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(self.spec.stop_signal)
        try:
            async with asyncio.timeout(self.spec.stop_seconds):
                return await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return await self._process.wait()

    def end_offspring(self) -> None:
        """Kill what a part that ended has left in its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def last_lines(self, count: int = 15) -> str:
        """Return the end of its log, of this run alone."""
        return tail(self.log, count, start=self._log_start)


def tail(log: Path, count: int, most_bytes: int = 64 * 1024, start: int = 0) -> str:
    """Return the last lines of a file, reading at most `most_bytes` of it and nothing before `start`.

    A file that is shorter than `start` was begun anew since, and all of it counts.
    """
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0 if start > end else start, end - most_bytes))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return "\n".join(lines[-count:])


def tail_with_older(log: Path, count: int) -> str:
    """Return the last lines of a log, from the file that was set aside before it where it is too short by itself."""
    most_bytes = 16 * 1024 * 1024
    lines = tail(log, count, most_bytes).splitlines()
    if len(lines) < count:
        lines = tail(log.with_name(f"{log.name}.1"), count - len(lines), most_bytes).splitlines() + lines
    return "\n".join(lines)


def die_with(parent: int, number: signal.Signals) -> Callable[[], None]:
    """Return the hook that has the kernel signal the child when its parent is gone, however it went."""

    def hook() -> None:
        # A core holds whatever was being asked.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _libc.prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            os._exit(1)

    return hook
