"""How a service's process begins and ends."""

import asyncio
import resource
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import uvloop

from services.common.errors import DomainError
from services.common.settings import SettingsError

EXIT_CANNOT_START = 1
EXIT_CONFIGURATION = 2


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a service's `main` on uvloop; say in one line why it cannot start, and exit with 2 when it is a setting."""
    # A core holds whatever was being asked.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        uvloop.run(_until_stopped(main))
    except SettingsError as error:
        _die(error, EXIT_CONFIGURATION)
    except DomainError as error:
        _die(error, EXIT_CANNOT_START)


async def _until_stopped(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `main`; a signal that comes before it serves, and so handles signals itself, ends it in good order."""
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(main())
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    await asyncio.wait((task,))
    if not task.cancelled():
        task.result()


def _die(error: Exception, code: int) -> None:
    sys.stderr.write(f"{error}\n")
    sys.exit(code)
