import math

import pytest

from services.answer.gate import Decision, EvidenceGate, GateReason

GATE = EvidenceGate()


@pytest.mark.parametrize(
    ("similarities", "reason"),
    [
        ([], GateReason.NO_PASSAGES),
        ([math.nan, math.inf], GateReason.NO_PASSAGES),
        ([0.4199, -1.0], GateReason.TOO_FAR),
        ([math.nan, 0.3], GateReason.TOO_FAR),
        ([0.42], GateReason.CLOSE_ENOUGH),
        ([0.1, 0.9], GateReason.CLOSE_ENOUGH),
    ],
)
def test_the_best_similarity_decides(similarities: list[float], reason: GateReason) -> None:
    assert GATE.decide(similarities, 0.42) == Decision(reason is GateReason.CLOSE_ENOUGH, reason)


def test_a_value_of_ones_own_stands_in_place_of_that_of_the_space() -> None:
    strict, lax = EvidenceGate(0.8), EvidenceGate(0.0)

    assert strict.decide([0.7], 0.6) == Decision(False, GateReason.TOO_FAR)
    assert lax.decide([0.1], 0.6) == Decision(True, GateReason.CLOSE_ENOUGH)
