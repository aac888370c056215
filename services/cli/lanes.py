"""`attest lanes`: the lanes that documents can be put into."""

from typing import Any

import click
from rich.table import Table

from services.cli.calls import EPILOG, gateway
from services.cli.console import console, print_json
from services.cli.printable import one_line


@click.command(epilog=EPILOG.format(done="the lanes are listed"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
def lanes(as_json: bool) -> None:
    """List the lanes: groups of documents cut under the same rules.

    ATTEST_LANES_FILE names a file with lanes of your own; examples/lanes/lanes.toml shows one.
    """
    with gateway() as api:
        found = list(api.lanes())
    if as_json:
        print_json({"lanes": found})
    else:
        _print_table(found)


def _print_table(found: list[dict[str, Any]]) -> None:
    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("lane", overflow="fold")
    table.add_column("what for", overflow="fold", ratio=1)
    for title in ("documents", "tokens a chunk", "overlap"):
        table.add_column(title, justify="right", no_wrap=True)
    for lane in found:
        counts = (str(lane[name]) for name in ("document_count", "chunk_tokens", "overlap_tokens"))
        table.add_row(one_line(lane["name"]), one_line(lane["description"]), *counts)
    out.print(table)
