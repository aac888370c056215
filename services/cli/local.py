"""Commands that run the local stack."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import NoReturn

import click

from services.cli.console import Exit, fail, print_json, stack_epilog
from services.cli.hints import command
from services.cli.stack.interruption import exit_code
from services.cli.stack.launcher import LaunchError, changed_settings
from services.cli.stack.launcher import down as stop_stack
from services.cli.stack.launcher import up as start_stack
from services.cli.stack.part import tail_with_older
from services.cli.stack.settings import HomeSettings, StackSettings
from services.cli.stack.state import read_state
from services.cli.stack.status import described, gather, now
from services.cli.status_table import print_report
from services.common.errors import DomainError
from services.common.postgres.migrate import MigrationError
from services.common.postgres.migrate import migrate as run_migrations
from services.common.postgres.settings import DatabaseSettings
from services.common.settings import from_environment

EXIT_NOT_RUNNING = 3
STOPPED_WHILE_STARTING = "stopped while starting; nothing is left running that did not run before."
_FOLLOW_SECONDS = 0.2
PARTS = ("gateway", "access", "answer", "retrieval", "ingest", "postgres", "supervisor")


@click.command(epilog=stack_epilog(done="a stack that ran already is left as it is"))
def up() -> None:
    """Start the local stack and wait until it is ready.

    Folder, ports and all other settings come from ATTEST_ variables, and are read at the start alone.
    """
    settings = from_environment(StackSettings)
    began = time.monotonic()
    try:
        started = start_stack(settings)
    except LaunchError as error:
        _fail_with_log(error)
    except KeyboardInterrupt as interrupt:
        fail(STOPPED_WHILE_STARTING, exit_code(interrupt))
    if changed := changed_settings(settings):
        click.echo(
            f"attest: it runs with other settings than are set now: {', '.join(changed)}."
            f" They take effect with: {command('down')}, {command('up')}",
            err=True,
        )
    if not started:
        click.echo(f"Attest is running already: {_running_url(settings)}")
        return
    click.echo(
        f"Attest is up after {time.monotonic() - began:.1f} s: {settings.gateway_url}   (stop: {command('down')})"
    )


def _running_url(settings: StackSettings) -> str:
    """Return the address of the gateway that runs, which keeps the one it was started with."""
    state = read_state(settings.home)
    return (state and state.gateway) or settings.gateway_url


@click.command(epilog=stack_epilog(done="also when nothing ran"))
def down() -> None:
    """Stop the local stack and wait until all of it has ended."""
    settings = from_environment(HomeSettings)
    try:
        stopped = stop_stack(settings)
    except LaunchError as error:
        fail(str(error))
    click.echo("Attest is down." if stopped else "Attest was not running.")


@click.command(epilog=stack_epilog(done="the stack is whole", not_running="the stack is down, or a part of it"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
def status(as_json: bool) -> None:
    """Say how the local stack is and what it holds."""
    report = gather(from_environment(HomeSettings))
    if as_json:
        print_json(described(report, now()))
    else:
        print_report(report, now())
    raise SystemExit(0 if report.whole else EXIT_NOT_RUNNING)


@click.command(epilog=stack_epilog(done="also of a stack that is down", not_running="no stack was started there"))
@click.argument("part", type=click.Choice(PARTS), required=False)
@click.option("-n", "--lines", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Lines of each log.")
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is written.")
def logs(part: str | None, lines: int, follow: bool) -> None:
    """Print the last log lines of a part, or of all."""
    settings = from_environment(HomeSettings)
    if not settings.logs.is_dir():
        fail(f"There are no logs in {settings.home}: no stack was started there.", Exit.NOT_RUNNING)
    files = {name: settings.logs / f"{name}.log" for name in ([part] if part else PARTS)}
    for name, file in files.items():
        for line in tail_with_older(file, lines).splitlines():
            click.echo(line if part else f"{name:<11}{line}")
    if follow:
        _follow(files, labelled=part is None)


@click.command()
@click.option(
    "--owner-dsn", envvar="ATTEST_OWNER_DSN", required=True, help="The owner's DSN; better by ATTEST_OWNER_DSN."
)
def migrate(owner_dsn: str) -> None:
    """Bring a database of your own to this version's schema.

    The local stack does so by itself.
    """
    try:
        version = asyncio.run(run_migrations(DatabaseSettings.from_dsn(owner_dsn)))
    except ValueError as error:
        fail(f"ATTEST_OWNER_DSN: {error}", 2)
    except (MigrationError, DomainError) as error:
        fail(str(error))
    click.echo(f"The schema is at version {version}.")


def _fail_with_log(error: LaunchError) -> NoReturn:
    """Say what is wrong and then, line by line, what the log said."""
    first, *rest = str(error).splitlines() or [""]
    click.echo("\n".join([f"attest: {first}", *rest]), err=True)
    sys.exit(1)


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
        # A log that is shorter than it was has been set aside and begun anew.
        opened.seek(place if place <= end else 0)
        for line in opened.read().decode(errors="replace").splitlines():
            click.echo(label + line)
        return opened.tell()
