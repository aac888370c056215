"""The report as a page of Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evals import page_figures, page_thresholds
from evals.bootstrap import ROUNDS
from evals.figures import Figures
from evals.markdown import table
from evals.storage import SetFacts
from evals.threshold import Thresholds

_METHOD = Path(__file__).with_name("method.md")
_INTRODUCTION = """\
# Quality

Made by `make eval`; no figure is typed by hand. All of it, with every interval, is in `quality.json`.
"""


def page(
    run: Mapping[str, Any],
    sets: Sequence[SetFacts],
    figures: Mapping[str, Figures],
    proxy: Mapping[str, float],
    found: Thresholds | None,
) -> str:
    """Return the page."""
    method = _METHOD.read_text(encoding="utf-8").replace("{rounds}", f"{ROUNDS:,}")
    return "\n".join(
        [
            _INTRODUCTION,
            *table(["", ""], _run(run, sets)),
            "",
            *_sets(sets),
            "",
            *page_figures.sections(figures, proxy),
            *page_thresholds.section(found),
            method.rstrip(),
            "",
        ]
    )


def _run(run: Mapping[str, Any], sets: Sequence[SetFacts]) -> list[list[str]]:
    settings = ", ".join(f"`ATTEST_{name}={value}`" for name, value in run["settings"].items()) or "the defaults"
    refused = [
        f"{one.name} {reason} {count}" for one in sets for reason, count in Counter(one.refused.values()).items()
    ]
    return [
        ["commit", ", ".join(run["commits"]) + _dirty(run["commits"])],
        ["date", run["date"]],
        ["settings", f"{settings}; unanswerable twins: {run['traps']}"],
        ["embedding space", ", ".join(f"{key} {value}" for key, value in run["space"].items() if key != "precision")],
        ["model", "; ".join(f"`{name}` sha256 `{digest}`" for name, digest in run["model_sha256"].items())],
        ["machine", "; ".join(run["machine"].values())],
        ["duration", f"{run['minutes']} minutes for {len(sets)} sets, other work on the machine included"],
        *([["refused documents", ", ".join(refused)]] if refused else []),
    ]


def _sets(sets: Sequence[SetFacts]) -> list[str]:
    head = ["set", "language", "documents", "chunks", "questions", "minutes", "precision", "commit"]
    return table(head, [_set(one) for one in sets])


def _set(one: SetFacts) -> list[str]:
    counts = [str(count) for count in (one.documents, one.chunks, one.questions)]
    minutes = f"{sum(one.seconds.values()) / 60:.1f}"
    return [one.name, one.lang, *counts, minutes, one.space.get("precision", "-"), one.commit]


def _dirty(commits: Sequence[str]) -> str:
    return " (`+`: with changes that were not committed)" if any("+" in commit for commit in commits) else ""
