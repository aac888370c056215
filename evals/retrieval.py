"""Measures of a ranking, by trec_eval through `pytrec-eval-terrier`.

It is trec_eval itself; `ranx` brings a compiler (numba) and pandas for the same numbers.
"""

from collections.abc import Mapping, Sequence

import pytrec_eval

MEASURES = {
    "recall_at_1": "recall_1",
    "recall_at_5": "recall_5",
    "recall_at_10": "recall_10",
    "ndcg_at_10": "ndcg_cut_10",
    "mrr": "recip_rank",
}
"""trec_eval's name by ours. Rankings end at ten passages, so `mrr` is the reciprocal rank within ten."""

_ASKED_FOR = {"recall.1,5,10", "ndcg_cut.10", "recip_rank"}


def measure(relevant: Sequence[str], ranked: Sequence[str]) -> Mapping[str, float]:
    """Return each measure of one question, 0 to 1; `ranked` is best first and holds no document twice."""
    if not ranked:
        return dict.fromkeys(MEASURES, 0.0)
    # trec_eval sorts by score: falling whole numbers keep the order that was given.
    run = {doc_id: float(len(ranked) - rank) for rank, doc_id in enumerate(ranked)}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": dict.fromkeys(relevant, 1)}, _ASKED_FOR)
    found = evaluator.evaluate({"q": run})["q"]
    return {ours: float(found[theirs]) for ours, theirs in MEASURES.items()}
