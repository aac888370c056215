"""Measures speed, each line beside its floor in interleaved rounds.

Usage: `python -m bench [LINE …]`; without a line all that need no peers.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import click

from bench.catalogue import LINES, measure
from bench.report import Line, as_json, table


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(sorted(LINES)))
@click.option("--rounds", default=15, show_default=True, type=click.IntRange(min=2), help="Rounds of each line.")
@click.option("--json", "out", type=click.Path(path_type=Path), help="File for the figures.")
def main(names: Sequence[str], rounds: int, out: Path | None) -> None:
    """Run the lines and print a table for each."""
    lines: list[Line] = []
    for name in names or [name for name, made in LINES.items() if made.by_default]:
        lines.append(asyncio.run(measure(name, rounds)))
        click.echo(table(lines[-1]) + "\n")
    if out:
        out.write_text(json.dumps(as_json(lines), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
