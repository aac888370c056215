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
    """Lets a question through when its closest passage is close enough.

    The least cosine, -1 to 1, belongs to the embedding model; 0.42 separates best for all-MiniLM-L6-v2.
    """

    min_best_cosine: float = 0.42

    def decide(self, similarities: Iterable[float]) -> Decision:
        """Decide from the cosine similarities of the passages; one that is not finite counts for nothing."""
        finite = [similarity for similarity in similarities if math.isfinite(similarity)]
        if not finite:
            return Decision(False, GateReason.NO_PASSAGES)
        if max(finite) < self.min_best_cosine:
            return Decision(False, GateReason.TOO_FAR)
        return Decision(True, GateReason.CLOSE_ENOUGH)
