"""A run as a table and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.statistics import Summary


@dataclass(frozen=True, slots=True)
class Line:
    """What was measured, way by way; the first way is the floor."""

    name: str
    what: str
    """One sentence on what a round does."""
    found: Mapping[str, Summary]
    """By the clock."""
    cpu: Mapping[str, Summary]
    """By the processor time of the measuring process; empty where the work is done elsewhere."""
    noise: str


def table(line: Line) -> str:
    """Return the line for a terminal, widths in characters of its longest name."""
    width = max(map(len, line.found))
    head = f"  {'':<{width}}  median ms      p95  spread  by floor (quartiles)"
    rows = [f"{line.name}: {line.what}", head + ("   CPU ms  by floor (quartiles)" if line.cpu else "")]
    for name, each in line.found.items():
        times = f"{each.median:9.2f} {each.p95:8.2f}   {each.spread:5.0%}  {_ratio(each)}"
        cpu = f"  {line.cpu[name].median:7.2f}  {_ratio(line.cpu[name])}" if line.cpu else ""
        rows.append(f"  {name:<{width}}  {times}{cpu}")
    if line.noise:
        rows.append(f"  Too noisy: {line.noise}. Read the ratios, best those of CPU time; the milliseconds say little.")
    return "\n".join(rows)


def as_json(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return the lines as values of JSON."""
    return [asdict(line) for line in lines]


def _ratio(summary: Summary) -> str:
    return f"{summary.ratio:6.2f} ({summary.ratio_low:.2f}-{summary.ratio_high:.2f})"
