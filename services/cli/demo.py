"""The demo: the stack, the example handbook, two questions, and what to do next."""

import textwrap
import time
from pathlib import Path
from typing import Any

import click
from rich.progress import track

from services.cli.api import Api, ApiError
from services.cli.console import WIDTH, console, fail
from services.cli.stack.launcher import LaunchError, up
from services.cli.stack.settings import StackSettings
from services.common.settings import from_environment

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
QUESTIONS = (
    "How soon must I report a stolen laptop?",
    "Which vaccinations do I need for a journey to Kenya?",
)


@click.command()
def demo() -> None:
    """Bring the stack up, ingest the example handbook and ask two questions."""
    settings = from_environment(StackSettings)
    began = time.monotonic()
    try:
        started = up(settings)
    except LaunchError as error:
        fail(str(error))
    click.echo(f"Stack {'up' if started else 'was up'} after {time.monotonic() - began:.1f} s.")
    try:
        with Api.at(settings.gateway_url) as api:
            _ingest(api)
            for question in QUESTIONS:
                _ask(api, question)
    except ApiError as error:
        fail(f"{error} ({error.code}, {error.reason})")
    _say_what_next(settings)


def _ingest(api: Api) -> None:
    began = time.monotonic()
    out = console()
    pages = sorted(HANDBOOK.rglob("*.md"))
    outcomes = [
        api.ingest(f"handbook/{page.relative_to(HANDBOOK)}", page.read_text())
        for page in track(pages, "Ingesting", console=out, transient=True, disable=not out.is_terminal)
    ]
    changed = [outcome for outcome in outcomes if outcome["outcome"] != "UNCHANGED"]
    chunks = sum(outcome["chunks_added"] for outcome in changed)
    if changed:
        seconds = time.monotonic() - began
        click.echo(f"Ingested {len(changed)} of {len(pages)} pages, {chunks} new chunks, in {seconds:.1f} s.")
    else:
        click.echo(f"All {len(pages)} pages were there already: nothing ingested, nothing embedded.")


def _ask(api: Api, question: str) -> None:
    began = time.monotonic()
    reply = api.answer(question)
    took_ms = (time.monotonic() - began) * 1000
    click.echo()
    _print_wrapped("Question  ", question)
    _print_wrapped("Outcome   ", reply["outcome"])
    _print_wrapped("Answer    ", reply["answer"])
    for source in reply["sources"]:
        _print_wrapped("          ", _source_line(source))
    _print_wrapped("Time      ", _timings(reply["record"], took_ms))


def _source_line(source: dict[str, Any]) -> str:
    mark = "*" if source["cited"] else " "
    return f"{mark}[{source['n']}] {source['similarity']:.3f}  {source['source']}  ({source['source_url']})"


def _timings(record: dict[str, Any], took_ms: float) -> str:
    parts = {
        "embed": record["embed_ms"],
        "search": record["vector_search_ms"],
        "generate": record["generate_ms"],
        "verify": record["verify_ms"],
    }
    shown = ", ".join(f"{name} {milliseconds:.1f}" for name, milliseconds in parts.items())
    return f"{took_ms:.0f} ms over REST: {shown}"


def _print_wrapped(label: str, text: str) -> None:
    indent = " " * len(label)
    click.echo(textwrap.fill(text, WIDTH, initial_indent=label, subsequent_indent=indent, break_on_hyphens=False))


def _say_what_next(settings: StackSettings) -> None:
    click.echo()
    click.echo("The stack is left running.")
    click.echo(f"  REST and gRPC   {settings.gateway_url}")
    click.echo(f"  gRPC, direct    127.0.0.1:{settings.answer_port} (answer)")
    click.echo(f"  Ask             curl {settings.gateway_url}/api/answer \\")
    click.echo("                    -H 'content-type: application/json' \\")
    click.echo(f"""                    -d '{{"question":"{QUESTIONS[0]}"}}'""")
    click.echo("  Stop            .venv/bin/attest down   (or: make down)")
