"""What `make eval` and `make eval-quick` run."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from evals import gates, quick, setting, threshold
from evals.leaving_out import TRAPS_SCRIPT
from evals.progress import Bar
from evals.questions import DataError, QuestionSet, load_all
from evals.report import Report, compiled, write
from evals.running import Plan, run
from evals.stack import StackError
from evals.storage import WorkFolder, measured
from evals.storage import settings as settings_of
from evals.table import printed

DATA = Path("../shared/data/qa")
FAILED, WRONG_CALL, INTERRUPTED = 1, 2, 130

_settings = click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="ATTEST_NAME of the stack.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
_traps = click.option("--traps", type=Path, default=TRAPS_SCRIPT, help="Script that makes the unanswerable twins.")

_out = click.option("--out", type=Path, default=Path("build/eval"), help="Folder of the report.")
_work = click.option(
    "--work", type=Path, default=Path("build/eval/work"), help="Folder of what was asked, a file a set."
)


@click.group()
def main() -> None:
    """Measure the product on questions whose answers are known."""


@main.command("run")
@click.argument("folder", type=Path, required=False)
@_out
@_work
@click.option("--resume", is_flag=True, help="Go on where a stopped run was; measure only sets that are not there yet.")
@click.option("--most-traps", type=click.IntRange(1), help="Most twins of each kind in a set. Default: all.")
@click.option("--swap", "swap_sets", multiple=True, default=["xquad_en"], help="Sets whose names may be swapped.")
@_traps
@_settings
@_json
def run_all(
    folder: Path | None,
    out: Path,
    work: Path,
    resume: bool,
    most_traps: int | None,
    swap_sets: Sequence[str],
    traps: Path,
    settings: Sequence[str],
    as_json: bool,
) -> None:
    """Measure the set in FOLDER, or all sets in its sub-folders, alone and together, and write the report."""
    plan = Plan(
        sets=_sets(folder),
        settings=_pairs(settings),
        traps=_script(traps),
        most_traps=most_traps,
        swap_sets=swap_sets,
    )
    report = _measured(plan, WorkFolder(work, plan.described(), resume=resume))
    _tell(report, out, as_json)


@main.command("report")
@_out
@_work
@_json
def run_report(out: Path, work: Path, as_json: bool) -> None:
    """Write the report of the sets that are finished, of a run that was stopped or still goes on."""
    facts, asked = measured(work)
    if not facts:
        _fail(f"{work} holds no finished set; run make eval first.", WRONG_CALL)
    _tell(compiled(settings_of(work), facts, asked), out, as_json)


@main.command("quick")
@click.option("--gates", "gates_file", type=Path, default=gates.FILE, help="What must not fall.")
@click.option("--propose", is_flag=True, help="Print gates for what was measured, with the tolerances of the old ones.")
@_traps
@_settings
@_json
def run_quick(gates_file: Path, propose: bool, traps: Path, settings: Sequence[str], as_json: bool) -> None:
    """Measure a fixed sample of questions and compare it with the gates."""
    if not (DATA.is_dir() and traps.is_file()):
        click.echo(f"eval-quick: skipped, since {DATA} or {traps} is not there.", err=True)
        return
    held = _gates(gates_file)
    plan = Plan(
        sets=quick.sets(DATA),
        settings=_pairs(settings),
        traps=traps,
        most_traps=quick.MOST_TRAPS,
        swap_sets=quick.SWAP,
    )
    report = _measured(plan, WorkFolder(Path("build/eval/quick"), plan.described(), resume=False))
    if propose:
        click.echo(gates.proposed(report.figures, held))
        return
    broken = gates.broken(report.figures, held)
    click.echo(report.json() if as_json else printed(report))
    for line in broken:
        click.echo(f"eval-quick: {line}", err=True)
    sys.exit(FAILED if broken else 0)


@main.command("threshold")
@_work
@click.option("--space", "target", metavar="HOST:PORT", help="Set them in the space of the ingest service there.")
@click.option("--save", is_flag=True, help="Make them what new spaces of the model begin with.")
@_json
def run_threshold(work: Path, target: str | None, save: bool, as_json: bool) -> None:
    """Print the chunk filter and the gate's start value that the last run gives, and set them when told to."""
    values = threshold.of_folder(work)
    if values is None:
        _fail(f"{work} holds no finished set; run make eval first.", WRONG_CALL)
    click.echo(values.json() if as_json else values.printed())
    try:
        if save:
            setting.save(values)
            click.echo(f"Written to {setting.SHIPPED}; new spaces begin with them.", err=True)
        if target:
            space_id = asyncio.run(setting.set_in_space(values, target))
            click.echo(f"Set in embedding space {space_id} of {target}; searches go by them within seconds.", err=True)
    except setting.SettingError as error:
        _fail(str(error), FAILED)


def _measured(plan: Plan, work: WorkFolder) -> Report:
    # Also where it was started with SIGINT ignored, in the background, and by SIGTERM: the stack must not be left.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with Bar() as bar:
            asyncio.run(run(plan, work, bar))
    except KeyboardInterrupt:
        _fail("stopped; finished sets are kept, and --resume goes on from there.", INTERRUPTED)
    except (StackError, DataError) as error:
        _fail(str(error), FAILED)
    return compiled(plan.described(), *work.load([one.name for one in plan.sets]))


def _tell(report: Report, out: Path, as_json: bool) -> NoReturn:
    write(report, out)
    click.echo(report.json() if as_json else printed(report))
    click.echo(f"Report: {out / 'quality.md'}", err=True)
    sys.exit(FAILED if report.failed else 0)


def _sets(folder: Path | None) -> list[QuestionSet]:
    if folder is None and not DATA.is_dir():
        click.echo(f"eval: skipped, since {DATA} is not there; name a folder with DATA=….", err=True)
        sys.exit(0)
    try:
        return load_all(folder or DATA)
    except DataError as error:
        _fail(str(error), WRONG_CALL)


def _script(path: Path) -> Path | None:
    if path.is_file():
        return path
    click.echo(f"eval: {path} is not there, so no unanswerable twins are asked.", err=True)
    return None


def _gates(path: Path) -> list[gates.Gate]:
    try:
        return gates.load(path)
    except gates.GateError as error:
        _fail(str(error), WRONG_CALL)


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    pairs = dict(setting.split("=", 1) for setting in settings if "=" in setting)
    if len(pairs) != len(settings):
        _fail("--set takes NAME=VALUE, each name once.", WRONG_CALL)
    return pairs


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"eval: {message}", err=True)
    sys.exit(code)
