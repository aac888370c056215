"""What `attest ingest` says at the end: a table for a person, one document for a machine."""

from dataclasses import dataclass
from typing import Any

import click
from rich.table import Table

from services.cli.api import ApiError
from services.cli.batch import Done, Outcome
from services.cli.collect import Collection
from services.cli.console import console, wrapped
from services.cli.printable import one_line

_COUNTED = ("chunks_added", "chunks_kept", "chunks_removed", "tokens_embedded")
_BAD = ("failed", "not tried")
_MOST_FAILURES = 50
"""Failures that are written out; --json has all of them."""


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the command."""

    collection: Collection
    done: list[Done]
    seconds: float
    interrupted: bool = False

    def count(self, outcome: Outcome) -> int:
        """Return how many files ended so, those that could not even be looked at among the failed."""
        unreadable = len(self.collection.unreadable) if outcome is Outcome.FAILED else 0
        return unreadable + sum(done.outcome is outcome for done in self.done)

    def total(self, name: str) -> int:
        """Return the sum of a count of the service over all files."""
        return sum(done.result.get(name, 0) for done in self.done)

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
            **{name: self.total(name) for name in _COUNTED},
            "seconds": round(self.seconds, 3),
            "interrupted": self.interrupted,
            "files": [
                *(_done_json(done) for done in sorted(self.done, key=lambda done: done.source_url)),
                *(_left_out_json(path, "FAILED", why) for path, why in self.collection.unreadable),
                *(_left_out_json(path, "SKIPPED", why) for path, why in self.collection.skipped),
            ],
        }


def print_report(report: Report, *, verbose: bool) -> None:
    """Print a table without what is zero, then what failed and why, then what was skipped.

    Without `verbose` only such of the skipped are named as the call itself names.
    """
    out = console()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, count in _counts(report).items():
        if count:
            table.add_row(name, f"{count:,}", style="red" if name in _BAD else None)
    table.add_row("seconds", f"{report.seconds:.1f}")
    if not report.collection.files and not report.count(Outcome.FAILED):
        click.echo("Nothing to ingest.")
    out.print(table)
    _print_problems(report)
    for path, why in report.collection.skipped if verbose else report.collection.missed:
        click.echo(wrapped("skipped   ", f"{one_line(str(path))}: {why}", out.width))


def _counts(report: Report) -> dict[str, int]:
    return {
        **{outcome.lower(): report.count(outcome) for outcome in Outcome},
        "skipped": len(report.collection.skipped),
        "not tried": report.left,
        **{name.replace("_", " "): report.total(name) for name in _COUNTED},
    }


def _print_problems(report: Report) -> None:
    width = console().width
    failed = [(str(path), f"{why}.", "UNREADABLE") for path, why in report.collection.unreadable]
    failed += [(str(done.path), str(done.error), done.error.reason) for done in report.done if done.error]
    for path, message, reason in failed[:_MOST_FAILURES]:
        click.echo(wrapped("failed    ", f"{one_line(path)}: {one_line(message)} ({one_line(reason)})", width))
    if len(failed) > _MOST_FAILURES:
        click.echo(f"failed    {len(failed) - _MOST_FAILURES} more; --json names all.")
    for done in report.done:
        for warning in done.result.get("warnings", []):
            click.echo(wrapped("warning   ", f"{one_line(str(done.path))}: {one_line(warning)}", width))


def _done_json(done: Done) -> dict[str, Any]:
    document = done.result.get("document", {})
    return {
        "path": str(done.path),
        "source_url": done.source_url,
        "outcome": str(done.outcome),
        "document_id": document.get("document_id"),
        "version": document.get("version"),
        **{name: done.result.get(name, 0) for name in _COUNTED},
        "warnings": done.result.get("warnings", []),
        **_error_json(done.error),
    }


def _left_out_json(path: object, outcome: str, why: str) -> dict[str, Any]:
    return {"path": str(path), "source_url": None, "outcome": outcome, "error": why, "code": None, "reason": None}


def _error_json(error: ApiError | None) -> dict[str, Any]:
    if error is None:
        return {"error": None, "code": None, "reason": None}
    return {"error": str(error), "code": error.code, "reason": error.reason}
