"""`attest ingest`: files, folders and patterns into the library."""

from pathlib import Path

import click

from services.cli.api import ApiError
from services.cli.batch import Outcome
from services.cli.calls import described, exit_code
from services.cli.collect import Collection, PathError, collect
from services.cli.console import Exit, fail, print_json
from services.cli.report import Report, print_report
from services.cli.run import Run
from services.cli.stack.settings import DoorSettings
from services.common.settings import from_environment

JOBS = 2
"""Measured on two cores, ten interleaved rounds of 12 pages and a PDF: 1 takes 15 % longer, 8 14 %, 4 the same."""
EPILOG = """\b
Exit codes:
  0    all files are in the library
  1    some failed, or none of the files named is a document (they are named); or
       the answer to the question of --prune was no
  2    called wrongly, a path is not there, or --prune needs --yes or --prune-all
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
@click.option("--jobs", type=click.IntRange(1, 8), default=JOBS, show_default=True, help="Files at a time.")
@click.option("--prune", is_flag=True, help="Delete the documents of the folders given whose files are gone.")
@click.option("--prune-all", is_flag=True, help="The same, even where a folder would lose all of its documents.")
@click.option("--yes", is_flag=True, help="Do not ask before --prune deletes.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
@click.option("-v", "--verbose", is_flag=True, help="Name what was skipped.")
def ingest(
    paths: tuple[str, ...],
    lane: str | None,
    base: Path | None,
    jobs: int,
    prune: bool,
    prune_all: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Ingest documents: .md, .markdown, .txt and .pdf.

    A PATH is a file, a folder with all below it, or a pattern such as 'notes/**/*.md'. Hidden files are skipped, and
    so are links that lead out of the folder. Files that the library has already are not sent again; a changed file
    replaces its old version whole.

    A document's address begins with the name of the folder given: `attest ingest docs` stores docs/tea.md. Of a file
    it is the folder that the file lies in, of a pattern the folder before the first wildcard.

    With --prune the library follows deletions too: a document of the lane below a folder given goes when its file has
    gone. What would go is shown first, and nothing else is touched.
    """
    prune = prune or prune_all
    run = Run(from_environment(DoorSettings).gateway_url, _collected(paths, base, prune=prune), lane, jobs)
    with run.ended_early():
        run.compare(prune_too=prune)
        if dry_run:
            run.foresee()
        else:
            if prune:
                run.ask(yes=yes, all_too=prune_all)
            run.send()
            run.delete()
    report = run.report
    if as_json:
        print_json(report.as_json())
    else:
        print_report(report, verbose=verbose)
    _exit(report, run.gave_up)


def ingest_files(url: str, collection: Collection, lane: str | None, jobs: int) -> tuple[Report, ApiError | None]:
    """Ingest what was collected and show how it goes; return the report, and the error that ended it before its end.

    Ctrl-C ends it early and is noted in the report.
    """
    run = Run(url, collection, lane, jobs)
    with run.ended_early():
        run.compare()
        run.send()
    return run.report, run.gave_up


def _collected(paths: tuple[str, ...], base: Path | None, *, prune: bool) -> Collection:
    try:
        collection = collect(paths, base)
    except PathError as error:
        fail(str(error), Exit.WRONG_CALL)
    if prune and not collection.folders:
        fail("--prune needs a folder: documents below it whose files are gone are deleted.", Exit.WRONG_CALL)
    return collection


def _exit(report: Report, lost: ApiError | None) -> None:
    if report.interrupted:
        fail(
            f"stopped; {report.left} of {len(report.collection.files)} files are left{_left_to_prune(report)}."
            " Each document is in the library whole or not at all; run the same command again to go on.",
            Exit.INTERRUPTED,
        )
    if lost:
        again = " Run the same command again to go on." if lost.passes else ""
        fail(f"{described(lost)}{again}", exit_code(lost))
    missed = not report.collection.files and report.collection.missed
    raise SystemExit(Exit.FAILED if report.count(Outcome.FAILED) or missed else Exit.OK)


def _left_to_prune(report: Report) -> str:
    left = report.not_pruned
    return f", and {left} document{'s' * (left > 1)} to prune" if left else ""
