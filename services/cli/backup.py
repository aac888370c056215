"""Commands that back up the local stack and fill a home from a backup."""

import time
from pathlib import Path

import click

from services.cli.console import fail, stack_epilog
from services.cli.hints import command
from services.cli.stack.archive import ArchiveError
from services.cli.stack.backup import BackupError, back_up
from services.cli.stack.restore import RestoreError
from services.cli.stack.restore import restore as fill_home
from services.cli.stack.settings import DataSettings, StackSettings
from services.cli.status_table import size
from services.common.settings import from_environment

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(epilog=stack_epilog(done="FILE is whole"))
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Replace FILE where it is there.")
def backup(file: Path, force: bool) -> None:
    """Back up the running local stack to FILE.

    FILE holds every document and the keys of the stack, and is readable by you alone: keep it as safe as the stack.
    """
    try:
        made = back_up(from_environment(DataSettings), file, replace=force)
    except (BackupError, ArchiveError) as error:
        fail(str(error))
    click.echo(
        f"{made.manifest.documents} documents, {made.manifest.chunks} chunks in {file} ({size(made.size_bytes)})."
    )


@click.command(epilog=stack_epilog(done="`attest up` starts the restored stack"))
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Move the data of a home that is not empty aside.")
def restore(file: Path, force: bool) -> None:
    """Fill the empty ATTEST_HOME from the backup FILE."""
    settings = from_environment(StackSettings)
    began = time.monotonic()
    try:
        manifest, aside = fill_home(settings, file, force=force)
    except (RestoreError, ArchiveError) as error:
        fail(str(error))
    held = f"{manifest.documents} documents, {manifest.chunks} chunks"
    click.echo(f"Restored {held} into {settings.home} in {time.monotonic() - began:.1f} s.   (start: {command('up')})")
    if aside is not None:
        click.echo(f"What was there before is in {aside}; remove it when you need it no more.")
