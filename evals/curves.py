"""How thresholds on the cosine would fare: what they keep of what is right, what they let through of what is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.outcome import Asked, Kind

GRID: NDArray[np.float64] = np.round(np.arange(0.0, 0.901, 0.01), 2)
"""Thresholds that are looked at."""
GOLD_KEPT = 0.99
"""Share of the gold passages that a chunk filter must keep."""
FOUND_KEPT = 0.95
"""Share of the questions whose gold document was found that the gate's start must let through."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Shares at or above each threshold of `GRID`; a kind that was not asked is absent."""

    gold_kept: NDArray[np.float64]
    """Of the answerable questions whose gold document is among ten passages: its passage stays."""
    found_passing: NDArray[np.float64]
    """Of the same questions: the closest passage is close enough for an answer."""
    passing: Mapping[Kind, NDArray[np.float64]]
    """By kind: the closest passage is close enough for an answer."""


def curves(asked: Sequence[Asked]) -> Curves | None:
    """Return the curves of the questions; None where no answerable one found its gold."""
    gold = [one.gold_cosine for one in asked if one.gold_cosine is not None]
    found = [_best(one) for one in asked if one.gold_cosine is not None]
    best = {kind: [_best(one) for one in asked if one.kind is kind] for kind in Kind}
    if not gold:
        return None
    passing = {kind: _share_above(scores) for kind, scores in best.items() if scores}
    return Curves(_share_above(gold), _share_above(found), passing)


def mean_of(several: Sequence[Curves]) -> Curves | None:
    """Return the mean over sets, each counting the same, so that a large set does not decide alone."""
    if not several:
        return None
    kinds = {kind for one in several for kind in one.passing}
    passing = {kind: np.mean([one.passing[kind] for one in several if kind in one.passing], axis=0) for kind in kinds}
    gold_kept = np.mean([one.gold_kept for one in several], axis=0)
    return Curves(gold_kept, np.mean([one.found_passing for one in several], axis=0), passing)


def chunk_filter(found: Curves) -> float:
    """Return the highest threshold that keeps `GOLD_KEPT` of the gold passages."""
    return _highest(found.gold_kept >= GOLD_KEPT)


def gate_start(found: Curves) -> float:
    """Return the highest threshold that lets `FOUND_KEPT` of the questions through whose gold document was found.

    It withholds what is far from everything and loses little that is right; what passes is checked further on.
    """
    return _highest(found.found_passing >= FOUND_KEPT)


def best_cut(found: Curves) -> float | None:
    """Return the threshold that parts answerable questions from `off` ones best: Youden's J, the lowest where several.

    Youden, "Index for rating diagnostic tests", 1950: share kept less share let through. None without both kinds.
    """
    kept, through = found.passing.get(Kind.ANSWERABLE), found.passing.get(Kind.OFF)
    if kept is None or through is None:
        return None
    return float(GRID[int(np.argmax(kept - through))])


def at(found: Curves, threshold: float, kind: Kind) -> float | None:
    """Return the share of a kind that passes a threshold."""
    return float(found.passing[kind][int(np.searchsorted(GRID, threshold - 1e-9))]) if kind in found.passing else None


def _highest(kept: NDArray[np.bool_]) -> float:
    at_most = np.flatnonzero(kept)
    return float(GRID[at_most[-1]]) if at_most.size else float(GRID[0])


def _best(one: Asked) -> float:
    return -1.0 if one.best_cosine is None else one.best_cosine


def _share_above(scores: Sequence[float]) -> NDArray[np.float64]:
    # Scores are kept to four decimals, thresholds to two.
    above = np.asarray(scores)[None, :] >= GRID[:, None] - 1e-9
    return np.asarray(above.mean(axis=1), dtype=np.float64)
