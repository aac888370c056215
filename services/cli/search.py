"""`attest search`: the passages that are closest to a query."""

from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.cli.calls import EPILOG, gateway, given, question_of, search_options
from services.cli.console import console, print_json
from services.cli.passages import excerpt, place
from services.cli.printable import one_line


@click.command(epilog=EPILOG.format(done="finding nothing is no failure"))
@click.argument("query")
@search_options
def search(query: str, lanes: tuple[str, ...], top_k: int | None, min_similarity: float | None, as_json: bool) -> None:
    """Find the passages that are closest to a QUERY.

    With - the query is read from stdin: then it stands neither in the shell's history nor in the list of processes,
    as an argument does.
    """
    asked = question_of(query)
    with gateway() as api:
        reply = api.search(asked, **given(lanes=lanes, top_k=top_k, min_similarity=min_similarity))
    if as_json:
        print_json(reply)
    elif reply["passages"]:
        print_passages(reply["passages"], console())
    else:
        click.echo("Nothing is close enough. (--min-similarity lowers the bar)")


def print_passages(passages: list[dict[str, Any]], out: Console) -> None:
    """Print a table of passages, best first."""
    table = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    table.add_column("#", justify="right")
    table.add_column("similarity", justify="right")
    table.add_column("passage", overflow="fold")
    for number, passage in enumerate(passages, 1):
        text = Text(place(passage), style="bold")
        text.append(f"\n{one_line(passage['source_url'])}\n", style="not bold cyan")
        text.append(excerpt(passage["content"]), style="not bold")
        table.add_row(str(number), f"{passage['similarity']:.3f}", text)
    out.print(table)
