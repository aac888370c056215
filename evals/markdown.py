"""Markdown's table."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, all columns but the first to the right."""
    lines = [f"| {' | '.join(head)} |", f"|---{'|---:' * (len(head) - 1)}|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]
