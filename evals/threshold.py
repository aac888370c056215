"""The chunk filter and the gate's start value that the scores of a run give, by size of the library."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evals import curves
from evals.curves import GRID, Curves
from evals.outcome import Asked, Kind, Scope
from evals.plot import chart
from evals.storage import SetFacts, measured

MODEL_LANGUAGE = "en"
"""Language that the packaged model was made for: its thresholds are taken from it where it was measured."""


@dataclass(frozen=True, slots=True)
class Library:
    """What thresholds would do in one library."""

    name: str
    chunks: int
    chunk_filter: float
    gate_start: float
    best_cut: float | None
    passing: Mapping[str, float]
    """Share of each kind of question that passes the gate's start value, by kind."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The values to set, and what they were read from."""

    model: str
    language: str
    chunk_filter: float
    gate_start: float
    libraries: Sequence[Library]
    charts: Mapping[str, str] = field(repr=False)
    """SVG by name of the file."""

    def facts(self) -> dict[str, object]:
        """Return it as JSON can hold it, without the charts."""
        return {key: value for key, value in asdict(self).items() if key != "charts"}

    def json(self) -> str:
        """Return it as JSON, without the charts."""
        return json.dumps(self.facts(), indent=2)

    def printed(self) -> str:
        """Return what to set in the embedding space."""
        return (
            f"Embedding space of {self.model}, from {len(self.libraries)} libraries: "
            f"min_similarity {self.chunk_filter:.2f}, gate_start {self.gate_start:.2f}"
        )


def of_folder(work: Path) -> Thresholds | None:
    """Return the thresholds of a run's folder; None where nothing was measured."""
    return thresholds(*measured(work))


def thresholds(facts: Sequence[SetFacts], asked: Sequence[Asked]) -> Thresholds | None:
    """Return the thresholds; None where no question found its gold document.

    They are read from means over the sets of the model's language, each counting the same. The gate is set for sets
    searched together where they were, since the larger library is closer to life; the filter for the libraries, alone
    or together, that lose more by it, since what it drops nobody sees again and nobody is told.
    """
    by_library = _by_library(asked)
    found = {key: made for key, rows in by_library.items() if (made := curves.curves(rows)) is not None}
    if not found:
        return None
    languages = {one.name: one.lang for one in facts}
    language = MODEL_LANGUAGE if MODEL_LANGUAGE in languages.values() else facts[0].lang
    scopes = {scope: curves.mean_of(_of(found, languages, language, scope)) for scope in Scope}
    decisive = scopes[Scope.TOGETHER] or scopes[Scope.ALONE] or next(iter(found.values()))
    chunk_filter = min(curves.chunk_filter(one) for one in (*scopes.values(), decisive) if one)
    gate_start = curves.gate_start(decisive)
    return Thresholds(
        model=str(facts[0].space.get("model", "")),
        language=language,
        chunk_filter=chunk_filter,
        gate_start=gate_start,
        libraries=[_library(name, scope, one, facts) for (name, scope), one in found.items()],
        charts=_charts(found, languages, language, scopes, (chunk_filter, gate_start)),
    )


def _by_library(asked: Sequence[Asked]) -> dict[tuple[str, Scope], list[Asked]]:
    found = defaultdict[tuple[str, Scope], list[Asked]](list)
    for one in asked:
        found[one.set_name, one.scope].append(one)
    return found


def _of(
    found: Mapping[tuple[str, Scope], Curves], languages: Mapping[str, str], language: str, scope: Scope
) -> list[Curves]:
    return [one for (name, at), one in found.items() if at is scope and languages[name] == language]


def _library(name: str, scope: Scope, one: Curves, facts: Sequence[SetFacts]) -> Library:
    own = next(fact for fact in facts if fact.name == name)
    together = own.together_chunks or sum(fact.chunks for fact in facts if fact.lang == own.lang)
    start = curves.gate_start(one)
    passing = {kind.value: curves.at(one, start, kind) for kind in one.passing}
    return Library(
        name=f"{name}/{scope}",
        chunks=own.chunks if scope is Scope.ALONE else together,
        chunk_filter=curves.chunk_filter(one),
        gate_start=start,
        best_cut=curves.best_cut(one),
        passing={kind: share for kind, share in passing.items() if share is not None},
    )


def _charts(
    found: Mapping[tuple[str, Scope], Curves],
    languages: Mapping[str, str],
    language: str,
    scopes: Mapping[Scope, Curves | None],
    chosen: tuple[float, float],
) -> dict[str, str]:
    xs = GRID.tolist()
    charts: dict[str, str] = {}
    kept_from, start = chosen
    for scope, one in scopes.items():
        if one is not None:
            lines = {kind.value: one.passing[kind].tolist() for kind in Kind if kind in one.passing}
            title = f"Share that passes the gate, {language}, {scope}"
            charts[f"quality-gate-{scope}.svg"] = chart(title, "least cosine of the best passage", xs, lines, start)
    kept = {
        lang: mean.gold_kept.tolist()
        for lang in dict.fromkeys(languages.values())
        if (mean := curves.mean_of(_of(found, languages, lang, Scope.ALONE))) is not None
    }
    title = "Gold passages that stay, by language"
    charts["quality-filter.svg"] = chart(title, "chunk filter, cosine", xs, kept, kept_from)
    return charts
