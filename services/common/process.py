"""How a service's process begins and ends."""

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
    try:
        uvloop.run(main())
    except SettingsError as error:
        _die(error, EXIT_CONFIGURATION)
    except DomainError as error:
        _die(error, EXIT_CANNOT_START)


def _die(error: Exception, code: int) -> None:
    sys.stderr.write(f"{error}\n")
    sys.exit(code)
