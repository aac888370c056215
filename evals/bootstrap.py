"""Intervals of a mean by the bootstrap over clusters: questions of one article share its luck."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROUNDS = 2000
SEED = 20240
_LOW, _HIGH = 2.5, 97.5


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its 95 % interval."""

    value: float
    low: float
    high: float
    n: int
    """Questions that it is the mean of."""
    clusters: int


def mean(
    values: Sequence[float], clusters: Sequence[str], *, rounds: int = ROUNDS, seed: int = SEED
) -> Estimate | None:
    """Return the mean of `values` with its interval; None where there are none.

    Clusters are drawn with replacement, as many as there are, and the mean is taken over all their questions (Field and
    Welsh 2007). A single cluster
    shows no spread: its interval is the value itself.
    """
    if not values:
        return None
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(member.max()) + 1
    sums = np.bincount(member, weights=np.asarray(values, dtype=float), minlength=count)
    sizes = np.bincount(member, minlength=count)
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=rounds)
    means = (drawn @ sums) / (drawn @ sizes)
    low, high = np.percentile(means, [_LOW, _HIGH])
    return Estimate(float(np.mean(values)), float(low), float(high), len(values), count)
