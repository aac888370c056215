import math

import pytest

from services.answer.gate import Decision, EvidenceGate, GateReason

GATE = EvidenceGate(0.42)


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
    assert GATE.decide(similarities) == Decision(reason is GateReason.CLOSE_ENOUGH, reason)
