"""What many noisy times of several ways to do the same thing say."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_SPREAD = 0.5
"""Spread of the steadiest way above which a run says little."""
MOST_LOAD = 1.0
"""Tasks that wait or run, per core, above which a run says little."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Times of one way, in milliseconds, and how they compare with the floor's of the same rounds."""

    count: int
    median: float
    p95: float
    spread: float
    """Distance of the quartiles by the median."""
    ratio: float
    """Median over the rounds of this way's time by the floor's: what a busy machine changes least."""
    ratio_low: float
    ratio_high: float
    """Quartiles of those ratios."""


def summaries(times: Mapping[str, Sequence[float]], floor: str) -> dict[str, Summary]:
    """Return a summary of every way; all have one time per round, in order, above 0 and at least two of them.

    Raises ValueError when they have not.
    """
    rounds = len(times[floor])
    if rounds < 2 or any(len(each) != rounds or min(each) <= 0 for each in times.values()):
        raise ValueError("every way needs one time above 0 for each of two rounds or more")
    return {name: _summary(each, times[floor]) for name, each in times.items()}


def noise(found: Mapping[str, Summary], loads: Sequence[float]) -> str:
    """Return why the times of a run say little, empty when they do; `loads` are per core, seen during the run."""
    steadiest = min(summary.spread for summary in found.values())
    reasons = []
    if steadiest > MOST_SPREAD:
        reasons.append(f"even the steadiest times spread by {steadiest:.0%}")
    if loads and max(loads) > MOST_LOAD:
        reasons.append(f"the load was {max(loads):.1f} a core")
    return " and ".join(reasons)


def _summary(times: Sequence[float], floor: Sequence[float]) -> Summary:
    low, median, high = statistics.quantiles(times, n=4, method="inclusive")
    ratios = [time / least for time, least in zip(times, floor, strict=True)]
    ratio_low, ratio, ratio_high = statistics.quantiles(ratios, n=4, method="inclusive")
    p95 = statistics.quantiles(times, n=20, method="inclusive")[18]
    return Summary(len(times), median, p95, (high - low) / median, ratio, ratio_low, ratio_high)
