"""Commands that run the local stack."""

import asyncio
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from services.cli.console import console, fail, print_json
from services.cli.stack.launcher import LaunchError
from services.cli.stack.launcher import down as stop_stack
from services.cli.stack.launcher import up as start_stack
from services.cli.stack.part import tail
from services.cli.stack.settings import StackSettings
from services.cli.stack.state import Phase, StackState, is_running, read_state
from services.common.errors import DomainError
from services.common.postgres.migrate import MigrationError
from services.common.postgres.migrate import migrate as run_migrations
from services.common.postgres.settings import DatabaseSettings
from services.common.settings import from_environment

EXIT_NOT_RUNNING = 3
_FOLLOW_SECONDS = 0.2
PARTS = ("gateway", "access", "answer", "retrieval", "ingest", "postgres", "supervisor")


@click.command()
def up() -> None:
    """Start the local stack and wait until it is ready."""
    settings = from_environment(StackSettings)
    began = time.monotonic()
    try:
        started = start_stack(settings)
    except LaunchError as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("stopped while starting; nothing is left running.", 130)
    if not started:
        click.echo(f"Attest is running already: {settings.gateway_url}")
        return
    click.echo(f"Attest is up after {time.monotonic() - began:.1f} s: {settings.gateway_url}   (stop: attest down)")


@click.command()
def down() -> None:
    """Stop the local stack and wait until all of it has ended."""
    settings = from_environment(StackSettings)
    try:
        stopped = stop_stack(settings)
    except LaunchError as error:
        fail(str(error))
    click.echo("Attest is down." if stopped else "Attest was not running.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
def status(as_json: bool) -> None:
    """Say which parts of the local stack run; exit with 3 when it is not up."""
    settings = from_environment(StackSettings)
    state = read_state(settings.home)
    running = is_running(settings.home) and state is not None
    if as_json:
        print_json(_described(settings, state if running else None))
    elif running and state is not None:
        _print_status(settings, state)
    else:
        click.echo(f"Attest is not running in {settings.home}.   (start: attest up)")
    ready = running and state is not None and state.phase is Phase.READY
    raise SystemExit(0 if ready and _all_running(state) else EXIT_NOT_RUNNING)


@click.command()
@click.argument("part", type=click.Choice(PARTS), required=False)
@click.option("-n", "--lines", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Lines of each log.")
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is written.")
def logs(part: str | None, lines: int, follow: bool) -> None:
    """Print the last log lines of a part, or of all."""
    settings = from_environment(StackSettings)
    files = {name: settings.logs / f"{name}.log" for name in ([part] if part else PARTS)}
    for name, file in files.items():
        for line in tail(file, lines, most_bytes=16 * 1024 * 1024).splitlines():
            click.echo(line if part else f"{name:<11}{line}")
    if follow:
        _follow(files, labelled=part is None)


@click.command()
@click.option(
    "--owner-dsn", envvar="ATTEST_OWNER_DSN", required=True, help="The owner's DSN; better by ATTEST_OWNER_DSN."
)
def migrate(owner_dsn: str) -> None:
    """Bring a database of your own to this version's schema (the local stack does so by itself)."""
    try:
        version = asyncio.run(run_migrations(DatabaseSettings.from_dsn(owner_dsn)))
    except ValueError as error:
        fail(f"ATTEST_OWNER_DSN: {error}", 2)
    except (MigrationError, DomainError) as error:
        fail(str(error))
    click.echo(f"The schema is at version {version}.")


def _described(settings: StackSettings, state: StackState | None) -> dict[str, Any]:
    described = {"home": str(settings.home), "gateway": settings.gateway_url}
    return described | (asdict(state) if state else {"phase": Phase.STOPPED, "parts": {}})


def _all_running(state: StackState | None) -> bool:
    return state is not None and all(part.state == "running" for part in state.parts.values())


def _print_status(settings: StackSettings, state: StackState) -> None:
    up_for = int(time.time() - state.started_at)
    out = console()
    out.print(
        f"Attest is {state.phase} for {up_for // 3600}:{up_for // 60 % 60:02d}:{up_for % 60:02d} in {settings.home}"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (("part", "left"), ("state", "left"), ("port", "right"), ("pid", "right")):
        table.add_column(title, justify="right" if justify == "right" else "left")
    for name, part in state.parts.items():
        style = None if part.state == "running" else "red"
        table.add_row(name, part.state, str(part.port), str(part.pid), style=style)
    out.print(table)


def _follow(files: dict[str, Path], labelled: bool) -> None:
    places = {name: file.stat().st_size if file.exists() else 0 for name, file in files.items()}
    try:
        while True:
            for name, file in files.items():
                places[name] = _print_new(file, places[name], f"{name:<11}" if labelled else "")
            time.sleep(_FOLLOW_SECONDS)
    except KeyboardInterrupt:
        return


def _print_new(file: Path, place: int, label: str) -> int:
    if not file.exists():
        return place
    with file.open("rb") as opened:
        end = opened.seek(0, os.SEEK_END)
        opened.seek(min(place, end))
        for line in opened.read().decode(errors="replace").splitlines():
            click.echo(label + line)
        return opened.tell()
