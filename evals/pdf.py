"""The command `python -m evals.pdf`: the product's PDF reader over the shared PDFs, a line a file."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from evals.pdf_expected import DEVIATIONS, FOLDER, Row, deviation, inked, rows
from evals.pdf_measured import Measured, measured_apart
from evals.progress import Bar

MOST_SECONDS, MOST_MIB = 60.0, 1536.0
"""What a file may take: processor or waiting time, and resident memory."""
_WIDTH = 150


@dataclass(frozen=True, slots=True)
class Line:
    """A file, what became of it, and what is wrong with that."""

    row: Row
    measured: Measured

    @property
    def said(self) -> str:
        """Outcome in a word: `text` or the reason of the refusal."""
        reason = self.measured.outcome.reason
        return self.measured.fault or (reason.value if reason else "text")

    @property
    def wrong(self) -> str:
        """What is wrong; empty where all is as expected."""
        found = self.measured
        if found.fault:
            return "a fault of the reader"
        if max(found.cpu_seconds, found.wall_seconds) > MOST_SECONDS:
            return f"took over {MOST_SECONDS:.0f} s"
        if found.peak_mib > MOST_MIB:
            return f"took over {MOST_MIB:.0f} MiB"
        return deviation(self.row, found.outcome)

    @property
    def characters(self) -> int:
        """Characters of the text that are no white space."""
        return inked(self.measured.outcome.text or "")

    def as_json(self) -> dict[str, object]:
        """Return the line for a machine."""
        found = self.measured
        return {
            "file": self.row.file,
            "outcome": self.said,
            "expected": self.row.outcome,
            "wrong": self.wrong,
            "reasoned": DEVIATIONS.get(self.row.name, ""),
            "pages": found.pages,
            "characters": self.characters,
            "cpu_seconds": round(found.cpu_seconds, 3),
            "wall_seconds": round(found.wall_seconds, 3),
            "peak_mib": round(found.peak_mib, 1),
        }


@click.command()
@click.argument("names", nargs=-1)
@click.option("--folder", type=Path, default=FOLDER, help="Folder of manifest.jsonl.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
def main(names: Sequence[str], folder: Path, as_json: bool) -> None:
    """Read every PDF of the manifest, or those whose file name holds one of NAMES; exit 1 when one deviates."""
    chosen = [row for row in rows(folder) if not names or any(name in row.name for name in names)]
    if not chosen:
        click.echo(f"evals.pdf: skipped, since {folder} holds no manifest with such a file.", err=True)
        return
    lines = list(_measured(chosen, folder))
    click.echo(json.dumps([line.as_json() for line in lines], indent=1) if as_json else printed(lines))
    click.echo(summary(lines), err=as_json)
    sys.exit(1 if any(line.wrong for line in lines) else 0)


def printed(lines: Sequence[Line]) -> str:
    """Return the table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("file", "outcome", "expected", "as expected?"):
        table.add_column(name, overflow="fold")
    for name in ("pages", "chars", "CPU s", "wall s", "peak MiB"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        found = line.measured
        sizes = (str(found.pages), str(line.characters))
        spent = (f"{found.cpu_seconds:.2f}", f"{found.wall_seconds:.2f}", f"{found.peak_mib:.0f}")
        table.add_row(line.row.name, line.said, line.row.outcome, _verdict(line), *sizes, *spent)
    console = Console(width=_WIDTH, force_terminal=False)
    with console.capture() as shown:
        console.print(table, highlight=False, markup=False)
    return shown.get().rstrip()


def summary(lines: Sequence[Line]) -> str:
    """Return one line on all files."""
    right, reasoned = sum(not line.wrong for line in lines), sum(line.row.name in DEVIATIONS for line in lines)
    cpu, wall = [line.measured.cpu_seconds for line in lines], [line.measured.wall_seconds for line in lines]
    peak = max(line.measured.peak_mib for line in lines)
    return (
        f"{len(lines)} files: {right} as expected ({reasoned} by a reasoned deviation), {len(lines) - right} not; "
        f"CPU {sum(cpu):.1f} s, at most {max(cpu):.1f} s; wall at most {max(wall):.1f} s; peak {peak:.0f} MiB"
    )


def _verdict(line: Line) -> str:
    if line.wrong:
        return f"NO: {line.wrong}"
    return f"yes ({DEVIATIONS[line.row.name]})" if line.row.name in DEVIATIONS else "yes"


def _measured(chosen: Sequence[Row], folder: Path) -> Iterable[Line]:
    with Bar() as bar:
        bar.begins("reading PDFs", len(chosen))
        for row in chosen:
            yield Line(row, measured_apart(folder / row.file))
            bar.step()


if __name__ == "__main__":
    main(prog_name="python -m evals.pdf")
