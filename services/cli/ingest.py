"""`attest ingest`: files, folders and patterns into the library."""

import asyncio
import time
from pathlib import Path

import click

from services.cli.api import ApiError
from services.cli.batch import Batch, Outcome
from services.cli.calls import described, exit_code
from services.cli.collect import Collection, PathError, collect
from services.cli.console import Exit, fail, print_json
from services.cli.progress import Bar
from services.cli.report import Report, print_report
from services.cli.sender import Sender
from services.cli.stack.settings import DoorSettings
from services.common.settings import from_environment

EPILOG = """\b
Exit codes:
  0    all files are in the library
  1    some failed, or none of the files named is a document; they are named
  2    called wrongly, or a path is not there
  3    the stack is not up
  130  stopped by Ctrl-C; run it again to go on
"""


@click.command(epilog=EPILOG)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--lane", metavar="NAME", help="Lane to put the documents in.  [default: default]")
@click.option(
    "--base",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder that addresses are relative to.  [default: above the folder given]",
)
@click.option("--jobs", type=click.IntRange(1, 8), default=2, show_default=True, help="Files at a time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
@click.option("-v", "--verbose", is_flag=True, help="Name what was skipped.")
def ingest(
    paths: tuple[str, ...], lane: str | None, base: Path | None, jobs: int, as_json: bool, verbose: bool
) -> None:
    """Ingest documents: .md, .markdown, .txt and .pdf.

    A PATH is a file, a folder with all below it, or a pattern such as 'notes/**/*.md'. Hidden files are skipped, and
    so are links that lead out of the folder. The same bytes again change nothing; a changed file replaces its old
    version whole.

    A document's address begins with the name of the folder given: `attest ingest docs` stores docs/tea.md. Of a file
    it is the folder that the file lies in, of a pattern the folder before the first wildcard.
    """
    settings = from_environment(DoorSettings)
    try:
        collection = collect(paths, base)
    except PathError as error:
        fail(str(error), Exit.WRONG_CALL)
    report, lost = ingest_files(settings.gateway_url, collection, lane, jobs)
    if as_json:
        print_json(report.as_json())
    else:
        print_report(report, verbose=verbose)
    _exit(report, lost)


def ingest_files(url: str, collection: Collection, lane: str | None, jobs: int) -> tuple[Report, ApiError | None]:
    """Ingest what was collected and show how it goes; return the report, and the error that ended it before its end.

    Ctrl-C ends it early and is noted in the report.
    """
    began = time.monotonic()
    interrupted = False
    with Bar(collection.files) as bar:
        batch = Batch(bar)
        try:
            asyncio.run(_run(batch, url, collection, lane, jobs))
        except KeyboardInterrupt:
            interrupted = True
        except ApiError as error:
            batch.gave_up = error
    return Report(collection, batch.done, time.monotonic() - began, interrupted), batch.gave_up


async def _run(batch: Batch, url: str, collection: Collection, lane: str | None, jobs: int) -> None:
    async with Sender.at(url, lane) as sender:
        await sender.reach()
        await batch.run(sender, collection.files, jobs)


def _exit(report: Report, lost: ApiError | None) -> None:
    if report.interrupted:
        fail(
            f"stopped; {report.left} of {len(report.collection.files)} files are left. Each document is in the library"
            " whole or not at all; run the same command again to go on.",
            Exit.INTERRUPTED,
        )
    if lost:
        fail(f"{described(lost)} Run the same command again to go on.", exit_code(lost))
    missed = not report.collection.files and report.collection.missed
    raise SystemExit(Exit.FAILED if report.count(Outcome.FAILED) or missed else Exit.OK)
