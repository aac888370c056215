"""`attest ask`: one question, its answer, and the sources to check it against."""

from typing import Any

import click
from rich.console import Console
from rich.text import Text

from services.cli.calls import EPILOG, gateway, given, question_of, search_options
from services.cli.console import console, print_json, wrapped
from services.cli.passages import place
from services.cli.printable import one_line

OUTCOMES = {
    "ANSWERED": "Answered. Each [n] opens the source that the sentence was checked against.",
    "NO_EVIDENCE": "No evidence. Nothing was written, since the documents do not answer this.",
    "LOW_SUPPORT": "Low support. What was written did not hold against the sources.",
    "BLOCKED": "Blocked. The guard refused the question.",
}
"""What the outcomes mean to a reader."""
_STYLES = {"ANSWERED": "green", "BLOCKED": "red"}


@click.command(epilog=EPILOG.format(done="NO_EVIDENCE, LOW_SUPPORT and BLOCKED are answers too"))
@click.argument("question")
@search_options
def ask(question: str, lanes: tuple[str, ...], top_k: int | None, min_similarity: float | None, as_json: bool) -> None:
    """Answer a QUESTION from the documents, with sources.

    With - the question is read from stdin: then it stands neither in the shell's history nor in the list of
    processes, as an argument does.
    """
    asked = question_of(question)
    with gateway() as api:
        reply = api.answer(asked, **given(lanes=lanes, top_k=top_k, min_similarity=min_similarity))
    if as_json:
        print_json(reply)
    else:
        print_reply(reply, console())


def print_reply(reply: dict[str, Any], out: Console) -> None:
    """Print outcome, answer and sources; `*` marks the sources that the answer cites."""
    outcome = reply["outcome"]
    said = OUTCOMES.get(outcome, one_line(outcome))
    out.print(Text(wrapped("", said, out.width), style=_STYLES.get(outcome, "yellow")), soft_wrap=True)
    if outcome == "ANSWERED" or reply["sources"]:
        click.echo()
        click.echo(wrapped("", reply["answer"], out.width))
    if reply["sources"]:
        click.echo()
        click.echo("Sources (* cited)")
    for source in reply["sources"]:
        click.echo(source_lines(source, out.width))


def source_lines(source: dict[str, Any], width: int, indent: str = "") -> str:
    """Return the lines of one source: number, similarity, place, address."""
    mark = "*" if source["cited"] else " "
    label = f"{indent}{mark}[{source['n']}] {source['similarity']:.3f}  "
    return wrapped(label, f"{place(source)}\n{one_line(source['source_url'])}", width)
