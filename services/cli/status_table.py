"""How `attest status` looks to a person, in 80 columns."""

from collections.abc import Mapping

import click
from rich.table import Table

from services.cli.console import console
from services.cli.hints import command
from services.cli.stack.state import PartState, StackState
from services.cli.stack.status import Contents, Report

_UNITS = ("B", "kB", "MB", "GB", "TB")


def print_report(report: Report, now: float) -> None:
    """Print the report; `now` in seconds since 1970."""
    state = report.state
    if state is None:
        click.echo(f"Attest is not running in {report.home}.   (start: {command('up')})")
    else:
        click.echo(f"Attest is {state.phase} for {duration(now - state.started_at)} in {report.home}")
        click.echo(f"gateway    {state.gateway or 'unknown'}")
    named = {name.capitalize().replace("Pgv", "pgv"): version for name, version in report.versions.items()}
    click.echo(f"versions   {', '.join(f'{name} {version}' for name, version in named.items() if version)}")
    if state is not None:
        click.echo(f"documents  {_contents(report.contents) if report.contents else f'database {report.database}'}")
    disk = report.disk
    click.echo(f"disk       data {size(disk.data)}, logs {size(disk.logs)}, free {size(disk.free)}")
    if state is not None:
        _print_parts(state.parts, now)
        _print_troubles(state)


def duration(seconds: float) -> str:
    """Write a span of time as hours, minutes and seconds, from a day on with days. Example: `2d 03:04:05`."""
    whole = max(0, int(seconds))
    days, clock = divmod(whole, 86_400)
    shown = f"{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    return f"{days}d {shown}" if days else shown


def size(count: int | None) -> str:
    """Write a number of bytes. Example: `52.1 MB`."""
    if count is None:
        return "unknown"
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{count} B"


def _contents(contents: Contents) -> str:
    space = contents.embedding_space
    named = (
        f"space {space['space_id']}: {space['model']}, {space['dimensions']} dimensions" if space else "no space yet"
    )
    return f"{contents.documents}, {contents.chunks} chunks; {named}"


def _print_parts(parts: Mapping[str, PartState], now: float) -> None:
    out = console()
    out.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("part", "state"):
        table.add_column(title, width=12)
    for title in ("port", "pid", "uptime", "restarts"):
        table.add_column(title, justify="right")
    for name, part in parts.items():
        uptime = duration(now - part.started_at) if part.pid else ""
        row = (name, part.state, str(part.port), str(part.pid or ""), uptime, str(part.restarts))
        table.add_row(*row, style=None if part.pid else "red")
    out.print(table)


def _print_troubles(state: StackState) -> None:
    troubles = [state.warning, state.error]
    troubles += [f"{name}: {part.detail}" for name, part in state.parts.items() if part.detail]
    for trouble in troubles:
        if trouble:
            click.echo(f"\n{trouble}")
    if any(part.detail and not part.pid for part in state.parts.values()):
        click.echo(f"\nStart what is down: {command('up')}")
