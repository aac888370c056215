"""Decides, before any generator is called, whether there is something to answer from."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class GateReason(StrEnum):
    """Why the gate decided as it did."""

    CLOSE_ENOUGH = "CLOSE_ENOUGH"
    NO_PASSAGES = "NO_PASSAGES"
    TOO_FAR = "TOO_FAR"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate decided."""

    enough: bool
    reason: GateReason


@dataclass(frozen=True, slots=True)
class EvidenceGate:
    """Lets a question through when its closest passage is close enough."""

    min_best_cosine: float | None = None
    """Least cosine, -1 to 1, in place of that of the embedding space."""

    def decide(self, similarities: Iterable[float], space_start: float) -> Decision:
        """Decide from the cosine similarities of the passages; one that is not finite counts for nothing.

        `space_start` is the least cosine of the space that was searched.
        """
        least = space_start if self.min_best_cosine is None else self.min_best_cosine
        finite = [similarity for similarity in similarities if math.isfinite(similarity)]
        if not finite:
            return Decision(False, GateReason.NO_PASSAGES)
        if max(finite) < least:
            return Decision(False, GateReason.TOO_FAR)
        return Decision(True, GateReason.CLOSE_ENOUGH)
