"""When a part that ended is started again, and when it is given up."""

from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RestartLimits:
    """Bounds of restarting one part; times in seconds."""

    first_pause: float = 0.5
    """Pause before the first restart; each further one within the window doubles it."""
    longest_pause: float = 30.0
    """Longest pause."""
    most: int = 5
    """Restarts within the window before the part is given up."""
    window: float = 300.0
    """Time after which a restart no longer counts."""


@dataclass(slots=True)
class RestartPolicy:
    """Remembers the restarts of one part."""

    limits: RestartLimits = RestartLimits()
    _recent: deque[float] = field(default_factory=deque)

    def pause_after_end(self, now: float) -> float | None:
        """Return how long to wait before a restart, and count it; None when the limit is reached.

        `now` is in seconds of a clock that never goes back.
        """
        while self._recent and now - self._recent[0] >= self.limits.window:
            self._recent.popleft()
        if len(self._recent) >= self.limits.most:
            return None
        pause = self.limits.first_pause * 2.0 ** len(self._recent)
        self._recent.append(now)
        return min(pause, self.limits.longest_pause)

    def forget(self) -> None:
        """Begin anew, as after somebody asked for the part again."""
        self._recent.clear()
