"""The demo: the stack, the example handbook, three questions, and what to do next."""

import time
from pathlib import Path
from typing import Any

import click

from services.cli.api import Api, ApiError
from services.cli.ask import source_lines
from services.cli.batch import Outcome
from services.cli.collect import Collection, collect
from services.cli.console import WIDTH, Exit, fail, stack_epilog, wrapped
from services.cli.hints import command
from services.cli.ingest import ingest_files
from services.cli.local import STOPPED_WHILE_STARTING
from services.cli.stack.interruption import exit_code
from services.cli.stack.launcher import LaunchError, up
from services.cli.stack.settings import StackSettings
from services.common.settings import from_environment

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = ("handbook", "handbook-pdf")
_JOBS = 2
_PATIENCE = 3
"""Waits for the limit of questions before its refusal is taken for an answer."""


QUESTIONS = (
    "How soon must I report a stolen laptop?",
    "Can I put the weighing pan in the dishwasher?",
    "Which vaccinations do I need for a journey to Kenya?",
)
"""Answered from Markdown, from a PDF with its page, and not at all."""


@click.command(epilog=stack_epilog(done="the stack is left running", not_running="the stack ended meanwhile"))
def demo() -> None:
    """Start the stack, ingest the examples and ask three questions."""
    settings = from_environment(StackSettings)
    began = time.monotonic()
    try:
        started = up(settings)
    except LaunchError as error:
        fail(str(error))
    except KeyboardInterrupt as interrupt:
        fail(STOPPED_WHILE_STARTING, exit_code(interrupt))
    click.echo(f"Stack {'up' if started else 'was up'} after {time.monotonic() - began:.1f} s.")
    _ingest(settings.gateway_url)
    try:
        with Api.at(settings.gateway_url) as api:
            for question in QUESTIONS:
                _ask(api, question)
    except ApiError as error:
        fail(f"{error} ({error.code}, {error.reason})")
    _say_what_next(settings)


def _ingest(url: str) -> None:
    collection = collect([str(EXAMPLES / folder) for folder in FOLDERS])
    report, lost = ingest_files(url, collection, None, _JOBS)
    if report.interrupted:
        fail("stopped while ingesting; the stack is up, run the demo again to go on.", Exit.INTERRUPTED)
    for done in report.done:
        if done.error:
            fail(f"{done.path.name}: {done.error} ({done.error.code}, {done.error.reason})")
    if lost:
        fail(str(lost))
    number = _counted(collection)
    changed = report.count(Outcome.CREATED) + report.count(Outcome.REPLACED)
    if changed:
        chunks = report.total("chunks_added")
        click.echo(f"Ingested {changed} of {number}, {chunks} new chunks, in {report.seconds:.1f} s.")
    else:
        click.echo(f"All {number} were there: nothing ingested, nothing embedded.")


def _counted(collection: Collection) -> str:
    pdfs = sum(file.media_type == "application/pdf" for file in collection.files)
    return f"{len(collection.files)} documents ({pdfs} PDFs)"


def _ask(api: Api, question: str) -> None:
    began, reply = _answered(api, question)
    took_ms = (time.monotonic() - began) * 1000
    click.echo()
    click.echo(wrapped("Question  ", question, WIDTH))
    click.echo(wrapped("Outcome   ", reply["outcome"], WIDTH))
    click.echo(wrapped("Answer    ", reply["answer"], WIDTH))
    for source in reply["sources"]:
        click.echo(source_lines(source, WIDTH, " " * 10))
    click.echo(wrapped("Time      ", _timings(reply["record"], took_ms), WIDTH))


def _answered(api: Api, question: str) -> tuple[float, dict[str, Any]]:
    """Ask, after the wait that the limit of questions a minute asks for, and say when the ask began."""
    for _ in range(_PATIENCE):
        began = time.monotonic()
        try:
            return began, api.answer(question)
        except ApiError as error:
            if error.reason != "RATE_LIMITED" or error.retry_after is None:
                raise
            click.echo(f"\nOver the limit of questions a minute; waiting {error.retry_after:.0f} s …")
            time.sleep(error.retry_after)
    return time.monotonic(), api.answer(question)


def _timings(record: dict[str, Any], took_ms: float) -> str:
    parts = {
        "embed": record["embed_ms"],
        "search": record["vector_search_ms"],
        "generate": record["generate_ms"],
        "verify": record["verify_ms"],
    }
    shown = ", ".join(f"{name} {milliseconds:.1f}" for name, milliseconds in parts.items())
    return f"{took_ms:.0f} ms over REST: {shown}"


def _say_what_next(settings: StackSettings) -> None:
    click.echo()
    click.echo("The stack is left running.")
    click.echo(f"  REST and gRPC   {settings.gateway_url}")
    click.echo(f"  gRPC, direct    127.0.0.1:{settings.answer_port} (answer)")
    asked = f'"{QUESTIONS[0]}"'
    click.echo(f"  Ask             {command('ask')} {asked}")
    click.echo(f"                  curl {settings.gateway_url}/api/answer \\")
    click.echo("                    -H 'content-type: application/json' \\")
    click.echo(f"""                    -d '{{"question":"{QUESTIONS[0]}"}}'""")
    click.echo(f"  Your documents  {command('ingest FOLDER')}")
    click.echo(f"  Stop            {command('down')}   (or: make down)")
