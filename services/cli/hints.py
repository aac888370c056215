"""How to write the next command: as this one was called, since a shell may not find `attest` by its name alone."""

import os
import shlex
import shutil
import sys
from pathlib import Path

_NAME = "attest"


def command(words: str) -> str:
    """Return the command line for `words`. Example: `.venv/bin/attest up`."""
    return f"{_called()} {words}"


def _called() -> str:
    """Return the way to this command: its name where the shell finds it by that, else its path, the shorter one."""
    called = Path(sys.argv[0])
    if called.name != _NAME or not called.is_file():
        return _NAME
    found = shutil.which(_NAME)
    if found is not None and called.samefile(found):
        return _NAME
    return shlex.quote(min(str(called), os.path.relpath(called), key=len))
