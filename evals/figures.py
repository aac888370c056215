"""From what was asked to the figures that are reported, each with its interval."""

from collections.abc import Callable, Mapping, Sequence

from evals.bootstrap import Estimate, mean
from evals.comparison import contains, length, overlap_f1
from evals.outcome import Asked, Kind
from evals.retrieval import MEASURES, measure

Figures = Mapping[str, Estimate]

FALSE_ANSWERS = {
    "false_unanswerable": Kind.UNANSWERABLE,
    "false_off": Kind.OFF,
    "false_near": Kind.NEAR,
    "false_swap": Kind.SWAP,
}
"""Share of the questions of a kind that were answered all the same."""


def figures(asked: Sequence[Asked]) -> Figures:
    """Return every figure that these questions give, by name; one without a question to show it is left out."""
    answerable = [one for one in asked if one.kind is Kind.ANSWERABLE]
    found = {**_retrieval(answerable), **_answers(answerable)}
    for name, kind in FALSE_ANSWERS.items():
        found[name] = _mean([one for one in asked if one.kind is kind], lambda one: float(one.answered))
    near = [one for one in asked if one.kind is Kind.NEAR and not one.is_long]
    found["false_near_with_gold"] = _mean(_answered(near), _contained)
    found["citations_valid"] = _mean(_answered(asked), lambda one: float(not one.citation_faults))
    found["failed"] = _mean(asked, lambda one: float(bool(one.error)))
    return {name: estimate for name, estimate in found.items() if estimate is not None}


def _retrieval(answerable: Sequence[Asked]) -> dict[str, Estimate | None]:
    clusters = [one.cluster for one in answerable]
    found: dict[str, Estimate | None] = {}
    rankings = {"": [one.ranked for one in answerable], "_unfiltered": [one.ranked_unfiltered for one in answerable]}
    for suffix, ranked in rankings.items():
        measured = [measure(one.relevant, own) for one, own in zip(answerable, ranked, strict=True)]
        for name in MEASURES:
            found[name + suffix] = mean([row[name] for row in measured], clusters)
    return found


def _answers(answerable: Sequence[Asked]) -> dict[str, Estimate | None]:
    spans = [one for one in answerable if not one.is_long]
    prose = [one for one in answerable if one.is_long]
    return {
        "answered": _mean(answerable, lambda one: float(one.answered)),
        "gold_contained": _mean(spans, _contained),
        "gold_contained_of_answered": _mean(_answered(spans), _contained),
        "overlap_f1": _mean(prose, _overlap),
        "overlap_f1_of_answered": _mean(_answered(prose), _overlap),
        "words": _mean(_answered(answerable), lambda one: float(length(one.answer, one.lang))),
    }


def _answered(asked: Sequence[Asked]) -> list[Asked]:
    return [one for one in asked if one.answered]


def _contained(one: Asked) -> float:
    return float(one.answered and contains(one.answer, one.golds, one.lang))


def _overlap(one: Asked) -> float:
    return overlap_f1(one.answer, one.golds, one.lang) if one.answered else 0.0


def _mean(asked: Sequence[Asked], value: Callable[[Asked], float]) -> Estimate | None:
    return mean([value(one) for one in asked], [one.cluster for one in asked])
