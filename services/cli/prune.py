"""Documents whose files are gone: found, shown, and deleted."""

import os
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from stat import S_ISDIR
from typing import Any
from urllib.parse import unquote_to_bytes

import click
from rich.table import Table

from services.cli.address import address
from services.cli.api import Api, ApiError
from services.cli.batch import Done, Outcome
from services.cli.collect import Collection, Folder
from services.cli.console import Exit, console, fail
from services.cli.patience import patiently
from services.cli.plan import Stored
from services.cli.printable import one_line

_MOST_SHOWN = 50
"""Documents that are shown before somebody is asked."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A document whose file is not there, and where it would be."""

    document: dict[str, Any]
    path: Path

    @property
    def source_url(self) -> str:
        """Return the address of the document."""
        return str(self.document["source_url"])


@dataclass(slots=True)
class Loss:
    """The documents below the folders of a call that have lost their files."""

    gone: list[Gone] = field(default_factory=list)
    emptied: list[tuple[Folder, int]] = field(default_factory=list)
    """Folders of which no document would be left, and how many those are: perhaps the wrong folder, or an empty one."""


def lost(collection: Collection, stored: Stored) -> Loss:
    """Return the documents below the folders named whose files are surely gone.

    What cannot be looked at, what is there and merely left out, and what no file could have as its address stays.
    """
    loss = Loss()
    there = {file.source_url for file in collection.files}
    for folder in collection.folders:
        below = _below(folder, stored)
        left_out = _left_out(folder, collection)
        gone = [one for one in below if one.source_url not in there and _has_lost_its_file(one, left_out)]
        if gone and len(gone) == len(below):
            loss.emptied.append((folder, len(gone)))
        known = {one.source_url for one in loss.gone}
        loss.gone += [one for one in gone if one.source_url not in known]
    return loss


def is_gone(path: Path) -> bool:
    """Tell whether there is surely no file: a folder that cannot be entered says nothing of what is in it."""
    try:
        return S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def confirm(loss: Loss, *, yes: bool, all_too: bool) -> None:
    """Show what would be deleted and ask; end the command where the answer is no, or nobody can be asked.

    That a folder loses all of its documents has to be meant by `all_too`: what is not mounted looks the same.
    """
    show(loss)
    warn(loss)
    if loss.emptied and not all_too:
        fail("nothing was done. If these are the right folders and that is meant, add --prune-all.", Exit.WRONG_CALL)
    if yes or not loss.gone:
        return
    if not sys.stdin.isatty():
        fail("there is no terminal to ask on; nothing was done. Add --yes to delete.", Exit.WRONG_CALL)
    number = "this document" if len(loss.gone) == 1 else f"these {len(loss.gone)} documents"
    if not click.confirm(f"Delete {number} after the ingest, with all that was made of them?", err=True):
        fail("nothing was done.")


def warn(loss: Loss) -> None:
    """Name on stderr the folders of which no document would be left."""
    for folder, count in loss.emptied:
        place = one_line(str(folder.path))
        click.echo(f"attest: all {count} documents of {place} go, for none of their files is there.", err=True)


def show(loss: Loss) -> None:
    """Print the documents that would be deleted to stderr: a table, and their number."""
    if not loss.gone:
        return
    out = console(stderr=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("document without a file", overflow="fold", ratio=1)
    table.add_column("chunks", justify="right", no_wrap=True)
    for one in loss.gone[:_MOST_SHOWN]:
        named = f"{one_line(one.source_url)}\n  {one_line(str(one.document.get('title') or ''))}"
        table.add_row(named, str(one.document.get("chunk_count", "")))
    out.print(table)
    chunks = sum(one.document.get("chunk_count") or 0 for one in loss.gone)
    more = f" ({len(loss.gone) - _MOST_SHOWN} more than shown)" if len(loss.gone) > _MOST_SHOWN else ""
    lost_by = "1 document" if len(loss.gone) == 1 else f"{len(loss.gone)} documents"
    theirs = "has lost its file" if len(loss.gone) == 1 else "have lost their files"
    click.echo(f"{lost_by} with {chunks} chunks {theirs}{more}.", err=True)


def foreseen(loss: Loss) -> list[Done]:
    """Return what would become of the documents."""
    return [Done(one.path, one.source_url, Outcome.PRUNED, {"document": one.document}) for one in loss.gone]


def pruned(api: Api, one: Gone) -> list[Done]:
    """Delete a document and return what became of it; nothing where its file is there again."""
    return [_pruned(api, one)] if is_gone(one.path) else []


def _pruned(api: Api, one: Gone) -> Done:
    document_id = str(one.document["document_id"])
    try:
        receipt = patiently(partial(api.delete, document_id))
    except ApiError as error:
        if error.code == "NOT_FOUND":
            # Somebody else was faster.
            return Done(one.path, one.source_url, Outcome.PRUNED, {"document": one.document})
        return Done(one.path, one.source_url, Outcome.FAILED, error=error)
    result = {"document": receipt.get("document", one.document), "chunks_removed": receipt.get("chunks_deleted", 0)}
    return Done(one.path, one.source_url, Outcome.PRUNED, result)


def _below(folder: Folder, stored: Stored) -> list[Gone]:
    """Return the documents that were made of files below the folder, to look whether they are gone."""
    urls = sorted(url for url in stored if url.startswith(folder.prefix))
    return [Gone(stored[url], path) for url in urls if (path := _path(folder, url)) is not None]


def _has_lost_its_file(one: Gone, left_out: set[Path]) -> bool:
    return not any(place in left_out for place in (one.path, *one.path.parents)) and is_gone(one.path)


def _path(folder: Folder, source_url: str) -> Path | None:
    """Return the file that an address below the folder was made of, or nothing where it was not made of one."""
    parts = [os.fsdecode(unquote_to_bytes(part)) for part in source_url.removeprefix(folder.prefix).split("/")]
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
        return None
    below = PurePath(*parts)
    return folder.path / below if folder.prefix + address(below) == source_url else None


def _left_out(folder: Folder, collection: Collection) -> set[Path]:
    """Return what lies below the folder and was not taken, hidden or unreadable for example."""
    left_out = (path for path, _ in [*collection.skipped, *collection.unreadable])
    return {path for path in left_out if path.is_relative_to(folder.path)}
