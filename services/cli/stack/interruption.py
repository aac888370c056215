"""Ctrl-C and SIGTERM while a stack starts: both interrupt, and neither where it would leave something behind."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruptions:
    """Raises KeyboardInterrupt with the number of the signal; what comes while it is held back waits until then."""

    def __init__(self) -> None:
        """Begin with nothing held back."""
        self._holding = False
        self._pending: int | None = None

    def take(self, number: int, _: FrameType | None) -> None:
        """Deal with a signal."""
        if self._holding:
            self._pending = number
        else:
            raise KeyboardInterrupt(number)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Let nothing interrupt the block."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending is not None:
            raise KeyboardInterrupt(self._pending)


@contextmanager
def interruptible() -> Iterator[Interruptions]:
    """Take Ctrl-C and SIGTERM for the block; one that is ignored stays so, as Ctrl-C is by what a shell runs behind."""
    interruptions = Interruptions()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in taken:
        signal.signal(number, interruptions.take)
    try:
        yield interruptions
    finally:
        for number in taken:
            signal.signal(number, before[number])


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """Return what a shell says of a command that the signal has ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)
