"""`attest documents`: list, show and delete what is in the library."""

import sys
from itertools import islice
from typing import Any

import click
from rich.table import Table

from services.cli.api import ApiError
from services.cli.calls import EPILOG, described, exit_code, gateway
from services.cli.console import Exit, console, fail, print_json, wrapped
from services.cli.hints import command
from services.cli.naming import document_id
from services.cli.printable import one_line

_LANE = click.option("--lane", metavar="NAME", help="Lane to list.  [default: all]")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
_LIMIT = click.option("--limit", type=click.IntRange(1), help="Most documents to list.  [default: all]")


@click.group(invoke_without_command=True, epilog=EPILOG.format(done="an empty library is no failure"))
@_LANE
@_JSON
@_LIMIT
@click.pass_context
def documents(context: click.Context, lane: str | None, as_json: bool, limit: int | None) -> None:
    """List, show or delete documents.

    Lists them when nothing else is said.
    """
    if context.invoked_subcommand is None:
        _list(lane, as_json, limit)


@documents.command("list")
@_LANE
@_JSON
@_LIMIT
def list_documents(lane: str | None, as_json: bool, limit: int | None) -> None:
    """List the documents, newest first."""
    _list(lane, as_json, limit)


@documents.command(epilog=EPILOG.format(done="the document is there"))
@click.argument("name", metavar="ID|ADDRESS")
@_JSON
def show(name: str, as_json: bool) -> None:
    """Show what is known of one document."""
    with gateway() as api:
        document = api.document(document_id(api, name))
    if as_json:
        print_json(document)
        return
    width = console().width
    for field, value in document.items():
        if shown := _shown(value):
            click.echo(wrapped(f"{field.replace('_', ' '):<16}", one_line(shown), width))


@documents.command(epilog=EPILOG.format(done="every document named is deleted"))
@click.argument("names", nargs=-1, required=True, metavar="ID|ADDRESS…")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_JSON
def delete(names: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Delete documents and all that was made of them.

    This cannot be undone.
    """
    wanted = list(dict.fromkeys(names))
    if not yes:
        _ask_first(wanted)
    receipts: list[dict[str, Any]] = []
    failures: list[tuple[str, ApiError]] = []
    with gateway() as api:
        for name in wanted:
            try:
                receipts.append(api.delete(document_id(api, name)))
            except ApiError as error:
                failures.append((name, error))
                if error.unreachable:
                    break
    if as_json:
        failed = [
            {"document_id": name, "error": str(failure), "code": failure.code, "reason": failure.reason}
            for name, failure in failures
        ]
        print_json({"deleted": receipts, "failed": failed})
    else:
        _print_receipts(receipts)
    for name, failure in failures:
        click.echo(f"attest: {one_line(name)}: {one_line(described(failure))}", err=True)
    raise SystemExit(max((exit_code(failure) for _, failure in failures), default=Exit.OK))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _list(lane: str | None, as_json: bool, limit: int | None) -> None:
    with gateway() as api:
        found = list(islice(api.documents(lane, min(limit or 1000, 1000)), limit))
    if as_json:
        print_json({"documents": found})
    elif found:
        _print_table(found)
    else:
        click.echo(f"No documents.   ({command('ingest PATH')})")


def _print_table(found: list[dict[str, Any]]) -> None:
    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("document, address, id", overflow="fold", ratio=1)
    table.add_column("lane", overflow="fold")
    for title in ("version", "pages", "chunks"):
        table.add_column(title, justify="right", no_wrap=True)
    for document in found:
        # One below the other: an id must stay in one piece to be copied.
        named = "\n".join(one_line(document[part]) for part in ("title", "source_url", "document_id"))
        pages = str(document.get("page_count") or "")
        counts = (str(document["version"]), pages, str(document["chunk_count"]))
        table.add_row(named, one_line(document["lane"]), *counts)
    out.print(table)


def _print_receipts(receipts: list[dict[str, Any]]) -> None:
    width = console().width
    for receipt in receipts:
        document = receipt["document"]
        counts = f"{receipt['chunks_deleted']} chunks, {receipt['vectors_deleted']} vectors"
        named = f"{one_line(document['title'])} ({one_line(document['source_url'])}), version {document['version']}"
        click.echo(wrapped("Deleted   ", f"{named}: {counts}", width))


def _ask_first(document_ids: list[str]) -> None:
    if not sys.stdin.isatty():
        fail("there is no terminal to ask on; add --yes to delete.", Exit.WRONG_CALL)
    number = "this document" if len(document_ids) == 1 else f"these {len(document_ids)} documents"
    if not click.confirm(f"Delete {number} and all that was made of them?", err=True):
        fail("nothing was deleted.")
