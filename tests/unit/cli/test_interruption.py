"""Signals while a stack starts."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from services.cli.stack.interruption import exit_code, interruptible

LOADED = "services.cli.commands"
INTERRUPTED = f"""
import signal, sys
from services.cli.main import main

class Finder:
    def find_spec(self, name, *_):
        if name == "{LOADED}":
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
main()
"""


@pytest.fixture(autouse=True)
def _listening() -> Iterator[None]:
    """Let Ctrl-C through, which a shell's background job ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_interrupts_and_names_its_exit_code(number: signal.Signals, code: int) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt) as caught, interruptible():
        signal.raise_signal(number)

    assert exit_code(caught.value) == code
    assert signal.getsignal(number) is before


def test_a_signal_that_is_held_back_comes_after() -> None:
    done: list[str] = []

    def hold_back() -> None:
        with interruptible() as interruptions:
            with interruptions.held_back():
                signal.raise_signal(signal.SIGTERM)
                done.append("all of the block")
            done.append("nothing after it")

    with pytest.raises(KeyboardInterrupt):
        hold_back()
    assert done == ["all of the block"]


def test_a_signal_that_is_ignored_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        pytest.fail("interrupted")


def test_ctrl_c_while_the_command_loads_ends_it_without_a_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=20, check=False)

    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_command_that_has_loaded_can_be_interrupted_in_order() -> None:
    code = f"{INTERRUPTED.replace(LOADED, 'nothing')}\nprint(signal.getsignal(signal.SIGINT).__name__)"
    code = code.replace("main()", "sys.argv[1:] = ['--version']\nmain()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False)

    assert (done.returncode, done.stdout.split()[-1]) == (0, "default_int_handler"), done.stderr
