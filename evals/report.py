"""What a run found, put together from what was asked: made by the command, no figure typed by hand."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals import provenance
from evals.figures import Figures, figures
from evals.outcome import Asked, Scope
from evals.page import page
from evals.proxy import discrimination
from evals.storage import SetFacts
from evals.threshold import Thresholds, thresholds

WITHOUT_TEXT = "DOCUMENT_EMPTY"
"""Reason by which a page of front matter alone is refused: it holds nothing that could be found."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the page shows."""

    run: Mapping[str, Any]
    """Commit, settings, model, machine, durations."""
    sets: Sequence[SetFacts]
    figures: Mapping[str, Figures]
    """By library: `set/alone`, `set/together`, and `language/together` over all sets of a language."""
    proxy: Mapping[str, float]
    """By set of long answers: how well token F1 tells right from wrong."""
    thresholds: Thresholds | None

    @property
    def failed(self) -> bool:
        """Tell whether a call failed or a document with text was refused: the figures are then not of the whole set."""
        refused = {reason for one in self.sets for reason in one.refused.values()}
        return any(found["failed"].value > 0 for found in self.figures.values()) or bool(refused - {WITHOUT_TEXT})

    def json(self) -> str:
        """Return the report as JSON."""
        told = {
            "run": self.run,
            "sets": [asdict(one) for one in self.sets],
            "figures": {where: {name: asdict(one) for name, one in own.items()} for where, own in self.figures.items()},
            "proxy_discrimination": self.proxy,
            "thresholds": self.thresholds.facts() if self.thresholds else None,
        }
        return json.dumps(_rounded(told), indent=1, ensure_ascii=False)


def compiled(plan: Mapping[str, Any], facts: Sequence[SetFacts], asked: Sequence[Asked]) -> Report:
    """Return the report of what was asked; `plan` is what `Plan.described` told."""
    libraries = _libraries(asked)
    return Report(
        run=_run(plan, facts),
        sets=facts,
        figures={where: figures(rows) for where, rows in libraries.items()},
        proxy={
            one.name: found
            for one in facts
            if (found := discrimination(libraries[f"{one.name}/{Scope.ALONE}"])) is not None
        },
        thresholds=thresholds(facts, asked),
    )


def write(report: Report, folder: Path) -> None:
    """Write `quality.md`, `quality.json` and the charts into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    charts = report.thresholds.charts if report.thresholds else {}
    text = page(report.run, report.sets, report.figures, report.proxy, report.thresholds)
    files = {"quality.json": report.json() + "\n", "quality.md": text, **charts}
    for name, text in files.items():
        temporary = folder / f".{name}.new"
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(folder / name)


def _libraries(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    found = defaultdict[str, list[Asked]](list)
    for one in asked:
        found[f"{one.set_name}/{one.scope}"].append(one)
        if one.scope is Scope.TOGETHER:
            found[f"{one.lang}/{one.scope}"].append(one)
    return dict(found)


def _run(plan: Mapping[str, Any], facts: Sequence[SetFacts]) -> dict[str, Any]:
    return {
        "commits": sorted({one.commit for one in facts}),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "settings": plan["settings"],
        "traps": _traps(plan),
        "space": facts[0].space if facts else {},
        "model_sha256": provenance.model_files(),
        "machine": provenance.machine(),
        "minutes": round(sum(sum(one.seconds.values()) for one in facts) / 60, 1),
    }


def _traps(plan: Mapping[str, Any]) -> str:
    if not plan["traps"]:
        return "none"
    return f"at most {plan['most_traps']} of a kind and set" if plan["most_traps"] else "all"


def _rounded(value: Any) -> Any:
    """Round floats to four digits, which is more than any interval here can tell apart."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value
