"""Question sets and outcomes for the tests of the evaluation."""

import json
from pathlib import Path
from typing import Any

from evals.outcome import Asked, Kind, Scope


def asked(kind: Kind = Kind.ANSWERABLE, **changes: Any) -> Asked:
    """Return a question about Berlin that was found and answered."""
    values: dict[str, Any] = {
        "set_name": "cities",
        "lang": "en",
        "scope": Scope.ALONE,
        "kind": kind,
        "qid": "q1",
        "cluster": "Berlin",
        "relevant": ("berlin",) if kind is Kind.ANSWERABLE else (),
        "golds": ("the Spree",) if kind is Kind.ANSWERABLE else (),
        "ranked": ("berlin", "paris"),
        "ranked_unfiltered": ("berlin", "paris"),
        "best_cosine": 0.7,
        "gold_cosine": 0.7 if kind is Kind.ANSWERABLE else None,
        "outcome": "ANSWERED",
        "answer": "Berlin lies on the Spree.",
        "sentences": 1,
    }
    return Asked(**{**values, **changes})


def write_set(folder: Path, documents: list[dict[str, Any]], queries: list[dict[str, Any]]) -> Path:
    """Write a question set into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("corpus", documents), ("queries", queries)):
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(text + "\n", encoding="utf-8")
    return folder


DOCUMENTS: list[dict[str, Any]] = [
    {"doc_id": "b1", "title": "Berlin", "text": "Berlin lies on the Spree.\f Page two.", "lang": "en"},
    {"doc_id": "b2", "title": "Berlin", "text": "It was founded in 1237.", "lang": "en"},
    {"doc_id": "p1", "title": "Paris", "text": "Paris lies on the Seine.", "lang": "en"},
]
QUERIES: list[dict[str, Any]] = [
    {"qid": "q1", "question": "On which river is Berlin?", "answers": ["Spree"], "relevant_doc_ids": ["b1"]},
    {"qid": "q2", "question": "Which river is in Paris?", "answers": ["Seine"], "relevant_doc_ids": ["p1"]},
    {"qid": "q3", "question": "Who is mayor?", "answers": [], "relevant_doc_ids": [], "answerable": False},
]
