"""The report on a terminal: the figures that matter most, one line a library."""

from io import StringIO

from rich.console import Console
from rich.table import Table

from evals.report import Report

_COLUMNS = {
    "recall_at_1": "R@1",
    "recall_at_5": "R@5",
    "ndcg_at_10": "nDCG",
    "answered": "answ.",
    "gold_contained": "gold",
    "overlap_f1": "F1",
    "words": "words",
    "citations_valid": "cited",
    "false_unanswerable": "F.lab",
    "false_off": "F.off",
    "false_near": "F.near",
    "false_swap": "F.swap",
}
_WIDTH = 110


def printed(report: Report) -> str:
    """Return the table; F. are false answers, by kind."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("library", no_wrap=True)
    for name in _COLUMNS.values():
        table.add_column(name, justify="right", no_wrap=True)
    for where, found in report.figures.items():
        cells = [f"{found[name].value:.{0 if name == 'words' else 3}f}" if name in found else "-" for name in _COLUMNS]
        table.add_row(where, *cells)
    out = StringIO()
    Console(file=out, width=_WIDTH, force_terminal=False).print(table)
    return out.getvalue().rstrip()
