"""Recall of models side by side.

Usage: `python -m evals.models.quality xquad_en clapnq --models exact int8 --separate exact`
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from evals.models import ranking
from evals.models.passages import PassageSet, passage_set
from evals.models.variants import variant
from evals.models.vectors import Vectors, separate, vectors
from services.common.embedding.sentence_vectors import pack, unpack
from services.common.vectors import Vector

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "qa"

_AGAINST = {
    "M late": "P",
    "M separate": "M late",
    "M late, float32": "M late",
    "M late+B": "P+B",
    "M separate+B": "M late+B",
    "P+M late+B": "M late+B",
}
"""P: cosine of the passage; M: of its nearest sentence; B: BM25; +: sum of z-scores."""

Ranks = Mapping[tuple[str, str], NDArray[np.int64]]
"""By model and method."""


@click.command()
@click.argument("sets", nargs=-1, required=True)
@click.option("--data", default=DATA, type=click.Path(path_type=Path), help="Folder with the sets.")
@click.option(
    "--models", default="exact,int8", show_default=True, help="Variants or folders; the first is compared to."
)
@click.option("--separate", "alone", default="", help="Models whose sentences are embedded one by one, too.")
@click.option("--json", "out", type=click.Path(path_type=Path), help="File for the figures.")
def main(sets: Sequence[str], data: Path, models: str, alone: str, out: Path | None) -> None:
    """Print recall of each model and method on each set, and the difference from the first model's."""
    rows = []
    for name in sets:
        cut = passage_set(data / name)
        click.echo(
            f"\n{name}: {len(cut.passages)} passages, {sum(map(len, cut.sentences))} sentences, "
            f"{len(cut.questions)} questions, {cut.by_document} of them by document"
        )
        found = ranks(cut, models.split(","), [each for each in alone.split(",") if each])
        for row in _rows(cut, found):
            rows.append({"set": name, **row})
            click.echo(_line(row))
    if out:
        out.write_text(json.dumps(rows, indent=1) + "\n")


def ranks(cut: PassageSet, models: Sequence[str], alone: Sequence[str]) -> Ranks:
    """Return the ranks of the gold passages by every model and method; the first model's passages come first."""
    words = ranking.by_words(cut.passages, [question.text for question in cut.questions])
    found = {("", "B"): ranking.ranks(words, cut.questions)}
    first: Vectors | None = None
    for model in models:
        made = vectors(cut, variant(model))
        scores = {"P": ranking.by_passage(made.passages, made.questions)}
        scores["M late"] = ranking.by_sentence(packed(made.late), made.owners, made.questions, len(cut.passages))
        if model in alone:
            rows = packed(separate(cut, variant(model)).rows)
            scores["M separate"] = ranking.by_sentence(rows, made.owners, made.questions, len(cut.passages))
        scores |= {f"{method}+B": ranking.fused(leg, words) for method, leg in scores.items()}
        scores["P+M late+B"] = ranking.fused(scores["P"], scores["M late"], words)
        if model == models[0]:
            scores["M late, float32"] = ranking.by_sentence(made.late, made.owners, made.questions, len(cut.passages))
            first = made
        elif first is not None and first.passages.shape[1] == made.passages.shape[1]:
            scores[f"P, questions {models[0]}"] = ranking.by_passage(made.passages, first.questions)
            scores[f"P, passages {models[0]}"] = ranking.by_passage(first.passages, made.questions)
        found |= {(model, method): ranking.ranks(leg, cut.questions) for method, leg in scores.items()}
    return found


def packed(rows: Vector) -> Vector:
    """Return rows as they come back from storage."""
    return unpack(pack([(0, 0)] * len(rows), rows), rows.shape[1])[1]


def _rows(cut: PassageSet, found: Ranks) -> Iterator[Mapping[str, Any]]:
    first = next((model for model, _ in found if model), "")
    for (model, method), gold in found.items():
        base = _base(first, model, method)
        row: dict[str, Any] = {"model": model, "method": method, **ranking.measures(gold)}
        if base in found and base != (model, method):
            row |= {"against": " ".join(base), **asdict(ranking.difference(gold, found[base], cut))}
        yield row


def _base(first: str, model: str, method: str) -> tuple[str, str]:
    """Return what a ranking is compared with: for the first model another method, for the others the first model."""
    if model == first:
        return first, _AGAINST.get(method, "")
    return first, "P" if method.startswith("P, ") else method


def _line(row: Mapping[str, Any]) -> str:
    head = f"  {Path(row['model']).name:<16}{row['method']:<28}{row['R@1']:.3f} {row['R@5']:.3f} {row['MRR']:.3f}"
    if "against" not in row:
        return head
    interval = f"{row['mean']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"
    return f"{head}  {interval} +{row['won']}/-{row['lost']} p {row['p']:.2f} against {row['against']}"


if __name__ == "__main__":
    main()
