"""The clock of the machine."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Tells the time of this machine."""

    def now(self) -> datetime:
        """Return the time of day, in UTC."""
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """Return seconds since some fixed moment; never runs backwards."""
        return time.perf_counter()
