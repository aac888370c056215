"""One ingest from its beginning to its end: compare, send, delete what has lost its file."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from services.cli import plan as planning
from services.cli import prune
from services.cli.api import Api, ApiError
from services.cli.batch import Batch, Done
from services.cli.collect import Collection
from services.cli.plan import Plan
from services.cli.progress import Bar, simple_bar
from services.cli.prune import Loss
from services.cli.report import Report
from services.cli.sender import Sender


@dataclass(slots=True)
class Run:
    """What one call is to ingest and what became of it by now; the steps are called in the order they have here."""

    url: str
    collection: Collection
    lane: str | None
    jobs: int
    plan: Plan = field(default_factory=Plan)
    loss: Loss = field(default_factory=Loss)
    gave_up: ApiError | None = None
    """The error that ended it before its end."""
    _done: list[Done] = field(default_factory=list)
    _pruned: list[Done] = field(default_factory=list)
    _interrupted: bool = False
    _dry: bool = False
    _began: float = field(default_factory=time.monotonic)

    @contextmanager
    def ended_early(self) -> Iterator[None]:
        """Note Ctrl-C, and an error that ends it all, instead of raising them."""
        try:
            yield
        except KeyboardInterrupt:
            self._interrupted = True
        except ApiError as error:
            self.gave_up = error

    def compare(self, *, prune_too: bool = False) -> None:
        """Find out what has to be sent and, if that is wanted, which documents have lost their files."""
        with Api.at(self.url) as api:
            stored = planning.stored_documents(api, self.lane, self.collection)
        with simple_bar("Comparing") as heard:
            self.plan = planning.compared(self.collection, stored, heard)
        self._done += self.plan.unchanged
        if prune_too:
            self.loss = prune.lost(self.collection, stored)

    def ask(self, *, yes: bool, all_too: bool) -> None:
        """Show what would be deleted and ask; end the command where the answer is no. That time does not count."""
        began = time.monotonic()
        prune.confirm(self.loss, yes=yes, all_too=all_too)
        self._began += time.monotonic() - began

    def foresee(self) -> None:
        """Note what would become of each file, instead of sending and deleting."""
        self._dry = True
        self._done = planning.foreseen(self.plan)
        self._pruned = prune.foreseen(self.loss)
        prune.warn(self.loss)

    def send(self) -> None:
        """Send what is new or changed."""
        with Bar(self.plan.to_send, self.plan.is_new) as bar:
            batch = Batch(bar)
            try:
                asyncio.run(self._send(batch))
            finally:
                self._done += batch.done
        if batch.gave_up:
            raise batch.gave_up

    def delete(self) -> None:
        """Delete the documents that have lost their files."""
        if self.loss.gone:
            with Api.at(self.url) as api, simple_bar("Deleting") as heard:
                for number, one in enumerate(self.loss.gone, start=1):
                    self._pruned += prune.pruned(api, one)
                    heard(number, len(self.loss.gone))

    @property
    def report(self) -> Report:
        """Return what became of it by now."""
        seconds = time.monotonic() - self._began
        left = len(self.loss.gone) - len(self._pruned) if self._stopped else 0
        return Report(self.collection, self._done, seconds, self._interrupted, self._pruned, left, self._dry)

    @property
    def _stopped(self) -> bool:
        return self._interrupted or self.gave_up is not None

    async def _send(self, batch: Batch) -> None:
        if self.plan.to_send:
            async with Sender.at(self.url, self.lane) as sender:
                await batch.run(sender, self.plan.to_send, self.jobs)
