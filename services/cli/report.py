"""What `attest ingest` says at the end: a table for a person, one document for a machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import click
from rich.table import Table

from services.cli.api import ApiError
from services.cli.batch import Done, Outcome
from services.cli.collect import HIDDEN, Collection
from services.cli.console import console, wrapped
from services.cli.printable import one_line

_COUNTED = ("chunks_added", "chunks_kept", "chunks_removed", "pages_with_text", "pages_without_text", "tokens_embedded")
_BAD = ("failed", "not tried", "refused")
_FORESEEN = {
    Outcome.CREATED: "would be created",
    Outcome.REPLACED: "would be replaced",
    Outcome.UNCHANGED: "unchanged",
    Outcome.FAILED: "refused",
    Outcome.PRUNED: "would be pruned",
}
_MOST_NAMED = 50
"""Files that are written out, of those that failed, warnings, and each kind of a dry run; --json has all of them."""


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the command."""

    collection: Collection
    done: Sequence[Done]
    seconds: float
    interrupted: bool = False
    pruned: Sequence[Done] = field(default=())
    """What became of the documents whose files are gone."""
    not_pruned: int = 0
    """Documents that were not deleted any more, because the run ended early."""
    dry_run: bool = False
    """Whether nothing was done, and the outcomes are those that an ingest would have."""

    @property
    def all(self) -> list[Done]:
        """Return all that was dealt with, in an order that does not depend on who was faster."""
        return sorted([*self.done, *self.pruned], key=lambda done: done.source_url)

    def count(self, outcome: Outcome) -> int:
        """Return how many files ended so, those that could not even be looked at among the failed."""
        unreadable = len(self.collection.unreadable) if outcome is Outcome.FAILED else 0
        return unreadable + sum(done.outcome is outcome for done in self.all)

    def total(self, name: str) -> int:
        """Return the sum of a count of the service over all files."""
        return sum(done.result.get(name) or 0 for done in self.all)

    @property
    def cost_usd(self) -> float:
        """Return what the service estimates that the embedding cost."""
        return round(sum(done.result.get("estimated_cost_usd") or 0.0 for done in self.all), 6)

    @property
    def left(self) -> int:
        """Return how many files were not dealt with."""
        return len(self.collection.files) - len(self.done)

    def as_json(self) -> dict[str, Any]:
        """Return all of it; names and meaning stay from one version to the next."""
        return {
            **{outcome.lower(): self.count(outcome) for outcome in Outcome},
            "skipped": len(self.collection.skipped),
            "not_tried": self.left,
            "not_pruned": self.not_pruned,
            **{name: None if self.dry_run else self.total(name) for name in _COUNTED},
            "estimated_cost_usd": None if self.dry_run else self.cost_usd,
            "seconds": round(self.seconds, 3),
            "interrupted": self.interrupted,
            "dry_run": self.dry_run,
            "files": [
                *(_done_json(done, self.dry_run) for done in self.all),
                *(_left_out_json(path, "FAILED", why) for path, why in self.collection.unreadable),
                *(_left_out_json(path, "SKIPPED", why) for path, why in self.collection.skipped),
            ],
        }


def print_report(report: Report, *, verbose: bool) -> None:
    """Print a table without what is zero, then what failed and why, then what was skipped.

    Without `verbose` only such of the skipped are named as the call itself names, in a dry run all that is not hidden.
    """
    out = console()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, count in _counts(report).items():
        if count:
            table.add_row(name, f"{count:,}", style="red" if name in _BAD else None)
    if report.cost_usd and not report.dry_run:
        table.add_row("US dollars, estimated", f"{report.cost_usd:,.4f}")
    table.add_row("seconds", f"{report.seconds:.1f}")
    if not report.collection.files and not report.count(Outcome.FAILED):
        click.echo("Nothing to ingest.")
    out.print(table)
    if report.dry_run:
        _print_foreseen(report)
    _print_problems(report)
    for path, why in _named_skipped(report, verbose=verbose):
        click.echo(wrapped("skipped   ", f"{one_line(str(path))}: {why}", out.width))


def _named_skipped(report: Report, *, verbose: bool) -> Sequence[tuple[object, str]]:
    if verbose:
        return report.collection.skipped
    if report.dry_run:
        return [(path, why) for path, why in report.collection.skipped if why != HIDDEN]
    return report.collection.missed


def _counts(report: Report) -> dict[str, int]:
    names = _FORESEEN if report.dry_run else {outcome: outcome.lower() for outcome in Outcome}
    totals = {} if report.dry_run else {name.replace("_", " "): report.total(name) for name in _COUNTED}
    return {
        **{name: report.count(outcome) for outcome, name in names.items()},
        "skipped": len(report.collection.skipped),
        "not tried": report.left,
        "not pruned": report.not_pruned,
        **totals,
    }


def _print_foreseen(report: Report) -> None:
    width = console().width
    for outcome, label in ((Outcome.CREATED, "create"), (Outcome.REPLACED, "replace"), (Outcome.PRUNED, "prune")):
        addresses = [done.source_url for done in report.all if done.outcome is outcome]
        for source_url in addresses[:_MOST_NAMED]:
            click.echo(wrapped(f"{label:<10}", one_line(source_url), width))
        _say_more(label, len(addresses))


def _print_problems(report: Report) -> None:
    width = console().width
    label = "refused" if report.dry_run else "failed"
    failed = [(str(path), f"{why}.", "UNREADABLE") for path, why in report.collection.unreadable]
    failed += [(str(done.path), str(done.error), done.error.reason) for done in report.all if done.error]
    for path, message, reason in failed[:_MOST_NAMED]:
        click.echo(wrapped(f"{label:<10}", f"{one_line(path)}: {one_line(message)} ({one_line(reason)})", width))
    _say_more(label, len(failed))
    warnings = [(done.path, warning) for done in report.all for warning in done.result.get("warnings", [])]
    for warned, warning in warnings[:_MOST_NAMED]:
        click.echo(wrapped("warning   ", f"{one_line(str(warned))}: {one_line(warning)}", width))
    _say_more("warning", len(warnings))


def _say_more(label: str, count: int) -> None:
    if count > _MOST_NAMED:
        click.echo(f"{label:<10}{count - _MOST_NAMED} more; --json names all.")


def _done_json(done: Done, dry_run: bool) -> dict[str, Any]:
    document = done.result.get("document", {})
    counts = {name: done.result.get(name, None if name.startswith("pages") else 0) for name in _COUNTED}
    return {
        "path": str(done.path),
        "source_url": done.source_url,
        "outcome": str(done.outcome),
        "document_id": document.get("document_id"),
        "version": document.get("version"),
        **(dict.fromkeys(counts) if dry_run else counts),
        "seconds": round(done.seconds, 3),
        "warnings": done.result.get("warnings", []),
        **_error_json(done.error),
    }


def _left_out_json(path: object, outcome: str, why: str) -> dict[str, Any]:
    return {"path": str(path), "source_url": None, "outcome": outcome, "error": why, "code": None, "reason": None}


def _error_json(error: ApiError | None) -> dict[str, Any]:
    if error is None:
        return {"error": None, "code": None, "reason": None}
    return {"error": str(error), "code": error.code, "reason": error.reason}
