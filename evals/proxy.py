"""How well token F1 stands in for meaning: does it tell an answer's own gold answer from that of another question?"""

from collections.abc import Sequence

import numpy as np

from evals.comparison import overlap_f1
from evals.outcome import Asked, Kind

_OTHERS = 20
_FEWEST = 20
_SEED = 20240


def discrimination(asked: Sequence[Asked]) -> float | None:
    """Return the chance that an answer overlaps more with its own gold than with another question's of the same set.

    0.5 is a coin, 1 perfect; ties count half (the area under the ROC curve, paired by answer). None below 20 answers.
    """
    answers = [one for one in asked if one.kind is Kind.ANSWERABLE and one.is_long and one.answered]
    if len(answers) < _FEWEST:
        return None
    rng = np.random.default_rng(_SEED)
    return float(np.mean([_wins(one, answers, rng) for one in answers]))


def _wins(one: Asked, answers: Sequence[Asked], rng: np.random.Generator) -> float:
    own = overlap_f1(one.answer, one.golds, one.lang)
    drawn = [answers[int(at)] for at in rng.integers(len(answers), size=_OTHERS)]
    others = [overlap_f1(one.answer, other.golds, one.lang) for other in drawn if other.golds != one.golds]
    scores = [1.0 if own > other else 0.5 if own == other else 0.0 for other in others]
    return float(np.mean(scores)) if scores else 0.5
