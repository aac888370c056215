"""Finds the processes of a stack, and waits for what they do."""

import time
from collections.abc import Callable

import psutil

from tests.stack.local_stack import LocalStack


def eventually(holds: Callable[[], bool], seconds: float = 15) -> bool:
    """Say whether something comes true within some time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


def processes_of(stack: LocalStack) -> list[psutil.Process]:
    """Return every process that was started for this home, orphans included."""
    mark = f"ATTEST_HOME={stack.home}"
    found = []
    data = f"{stack.home}/"
    for process in psutil.process_iter():
        try:
            environment = {f"{key}={value}" for key, value in process.environ().items()}
            if mark in environment or data in " ".join(process.cmdline()):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found
