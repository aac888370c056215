"""What an ingest has to do: which files are new, changed or unchanged, and which documents have lost their file."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from services.cli.api import Api, ApiError
from services.cli.batch import Done, Outcome
from services.cli.collect import Collection, Found
from services.cli.content import refuse_by_content, refuse_by_size, sent_sha256, unreadable
from services.cli.patience import patiently

DEFAULT_LANE = "default"
_COMPARED = (
    "document_id",
    "source_url",
    "title",
    "version",
    "media_type",
    "content_sha256",
    "chunk_count",
    "up_to_date",
)
"""What is kept of a document: its metadata can be large, and a lane can hold a hundred thousand."""
_MOST_ALONE = 20
"""Files that are asked for one by one."""
Stored: TypeAlias = Mapping[str, dict[str, Any]]
"""Documents of a lane by address, as the service lists them."""
Heard: TypeAlias = Callable[[int, int], None]
"""Hears how many bytes are compared by now, and of how many."""


@dataclass(slots=True)
class Plan:
    """The files of one call, by what is to be done with them."""

    stored: Stored = field(default_factory=dict)
    to_send: list[Found] = field(default_factory=list)
    unchanged: list[Done] = field(default_factory=list)

    def is_new(self, file: Found) -> bool:
        """Tell whether no document is at the address of a file."""
        return file.source_url not in self.stored


def stored_documents(api: Api, lane: str | None, collection: Collection) -> Stored:
    """Return the documents that the files and folders of a call could mean; raise ApiError."""
    found: dict[str, dict[str, Any]] = {}
    for prefix in _prefixes(collection):
        listed = patiently(partial(_listed, api, lane, prefix), waits_for_gateway=False)
        found.update((document["source_url"], document) for document in listed)
    return found


def compared(collection: Collection, stored: Stored, heard: Heard) -> Plan:
    """Compare the files with what is stored of them; in doubt a file is sent, and the service looks."""
    plan = Plan(stored)
    comparable = {file.source_url for file in collection.files if _is_comparable(file, stored)}
    total = sum(file.size for file in collection.files if file.source_url in comparable)
    progress = _Progress(heard, total)
    for file in collection.files:
        if file.source_url in comparable and _is_same(file, stored[file.source_url], progress):
            plan.unchanged.append(_unchanged(file, stored[file.source_url]))
        else:
            plan.to_send.append(file)
    return plan


def foreseen(plan: Plan) -> list[Done]:
    """Return what would become of the files, without sending any."""
    return [*plan.unchanged, *(_foreseen(file, plan) for file in plan.to_send)]


def _foreseen(file: Found, plan: Plan) -> Done:
    try:
        refuse_by_size(file)
        refuse_by_content(file)
    except ApiError as error:
        return Done(file.path, file.source_url, Outcome.FAILED, error=error)
    except OSError as error:
        return Done(file.path, file.source_url, Outcome.FAILED, error=unreadable(error))
    if plan.is_new(file):
        return Done(file.path, file.source_url, Outcome.CREATED)
    return Done(file.path, file.source_url, Outcome.REPLACED, {"document": plan.stored[file.source_url]})


def _listed(api: Api, lane: str | None, prefix: str) -> list[dict[str, Any]]:
    listed = api.documents(lane or DEFAULT_LANE, source_url_prefix=prefix)
    return [{name: document.get(name) for name in _COMPARED} for document in listed]


def _prefixes(collection: Collection) -> Iterator[str]:
    """Return what to ask for: each folder named, and the other files, or their folders where they are many."""
    wanted = {folder.prefix for folder in collection.folders}
    alone = [file.source_url for file in collection.files if not _begins_with_any(file.source_url, wanted)]
    many = len(alone) > _MOST_ALONE
    wanted.update("".join(address.rpartition("/")[:2]) if many else address for address in alone)
    yield from sorted(prefix for prefix in wanted if not _begins_with_any(prefix, wanted - {prefix}))


def _begins_with_any(address: str, prefixes: Iterable[str]) -> bool:
    return any(address.startswith(prefix) for prefix in prefixes)


def _is_comparable(file: Found, stored: Stored) -> bool:
    document = stored.get(file.source_url, {})
    return document.get("up_to_date") is True and document.get("media_type") == file.media_type


def _is_same(file: Found, document: dict[str, Any], progress: "_Progress") -> bool:
    try:
        return sent_sha256(file, progress.read) == document.get("content_sha256")
    except (OSError, ApiError):
        # Sending it says what is wrong with it.
        return False


def _unchanged(file: Found, document: dict[str, Any]) -> Done:
    kept = {"document": document, "chunks_kept": document.get("chunk_count") or 0}
    return Done(file.path, file.source_url, Outcome.UNCHANGED, kept)


class _Progress:
    def __init__(self, heard: Heard, total: int) -> None:
        self._heard = heard
        self._total = total
        self._done = 0

    def read(self, size: int) -> None:
        self._done += size
        self._heard(self._done, self._total)
