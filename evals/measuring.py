"""Measures question sets on a running product: puts their documents in, asks, leaves out, asks again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from evals.asking import Asker
from evals.leaving_out import Step, Trap, steps
from evals.outcome import Asked, Kind, Scope
from evals.product import CallError, Product
from evals.questions import Document, Query, QuestionSet

JOBS = 4
"""Questions under way at once: enough to keep two embedding threads busy."""
INGEST_JOBS = 2
"""Documents under way at once: long ones share the threads, and more would only run out of time together."""
T = TypeVar("T")
R = TypeVar("R")


class Observer(Protocol):
    """Watches a measurement."""

    def begins(self, what: str, steps: int) -> None:
        """Note that a part of so many steps begins."""

    def step(self) -> None:
        """Note that one step is done."""


@dataclass(slots=True)
class Shelf:
    """The stored documents of one set."""

    lane: str
    stored: dict[str, str] = field(default_factory=dict)
    """Id in the product by id in the set."""
    chunks: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Code of the refusal by id in the set."""


@dataclass(slots=True)
class Measuring:
    """One measurement on one product; sets that are to be searched together must all be `fill`ed before."""

    product: Product
    lanes: Mapping[str, str]
    """Lane by set."""
    observer: Observer
    shelves: dict[str, Shelf] = field(default_factory=dict)
    doc_ids: dict[str, str] = field(default_factory=dict)
    """Id in its set by id in the product."""

    async def fill(self, question_set: QuestionSet) -> Shelf:
        """Put every document of the set into its lane; one that is refused is noted and counts as not found."""
        shelf = self.shelves[question_set.name] = Shelf(self.lanes[question_set.name])
        self.observer.begins(f"{question_set.name}: documents", len(question_set.documents))
        await self._each(question_set.documents.values(), lambda document: self._put(shelf, document), jobs=INGEST_JOBS)
        return shelf

    async def ask(self, question_set: QuestionSet, scopes: Mapping[Scope, Sequence[str]]) -> list[Asked]:
        """Return what came of the set's own questions in each scope, which is a list of sets to search."""
        self.observer.begins(f"{question_set.name}: questions", len(question_set.queries) * len(scopes))
        tasks = [(query, scope) for query in question_set.queries for scope in scopes]

        async def one(task: tuple[Query, Scope]) -> Asked:
            query, scope = task
            asker = self._asker(scopes[scope])
            about = _about(question_set, query, scope, Kind.ANSWERABLE if query.answerable else Kind.UNANSWERABLE)
            return await (asker.ask if query.answerable else asker.tempt)(query.question, about)

        return await self._each(tasks, one)

    async def tempt(
        self, question_set: QuestionSet, scopes: Mapping[Scope, Sequence[str]], traps: Sequence[Trap]
    ) -> list[Asked]:
        """Return what came of the unanswerable twins in each scope; all documents are back at the end."""
        self.observer.begins(f"{question_set.name}: traps", len(traps) * len(scopes))
        found: list[Asked] = []
        for step in steps(traps):
            await self._move(question_set, step)
            found += await self._tempt_step(question_set, scopes, step.ask)
        return found

    async def _tempt_step(
        self, question_set: QuestionSet, scopes: Mapping[Scope, Sequence[str]], traps: Sequence[Trap]
    ) -> list[Asked]:
        queries = {query.qid: query for query in question_set.queries}

        async def one(task: tuple[Trap, Scope]) -> Asked:
            trap, scope = task
            about = _about(question_set, queries[trap.qid], scope, trap.kind)
            return await self._asker(scopes[scope]).tempt(trap.question, about)

        return await self._each([(trap, scope) for trap in traps for scope in scopes], one)

    async def _move(self, question_set: QuestionSet, step: Step) -> None:
        shelf = self.shelves[question_set.name]
        for doc_id in sorted(step.take_out & shelf.stored.keys()):
            await self.product.delete(shelf.stored.pop(doc_id))
        back = [question_set.documents[doc_id] for doc_id in sorted(step.put_back - shelf.refused.keys())]
        await self._each(back, lambda document: self._put(shelf, document), jobs=INGEST_JOBS, counted=False)

    async def _put(self, shelf: Shelf, document: Document) -> None:
        try:
            document_id, chunks = await self.product.ingest(shelf.lane, document)
        except CallError as error:
            shelf.refused[document.doc_id] = error.name
            return
        shelf.stored[document.doc_id] = document_id
        shelf.chunks[document.doc_id] = chunks
        self.doc_ids[document_id] = document.doc_id

    def _asker(self, sets: Sequence[str]) -> Asker:
        return Asker(self.product, [self.lanes[name] for name in sets], self.doc_ids)

    async def _each(
        self, items: Iterable[T], do: Callable[[T], Awaitable[R]], *, jobs: int = JOBS, counted: bool = True
    ) -> list[R]:
        """Do something with each item, a few at a time; return the results in order."""
        free = asyncio.Semaphore(jobs)

        async def bounded(item: T) -> R:
            async with free:
                result = await do(item)
            if counted:
                self.observer.step()
            return result

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(bounded(item)) for item in items]
        return [task.result() for task in tasks]


def _about(question_set: QuestionSet, query: Query, scope: Scope, kind: Kind) -> Asked:
    """Return what is known of a question before it is asked; gold belongs to answerable ones alone."""
    has_gold = kind is Kind.ANSWERABLE
    # With the gold document away its answer may stand elsewhere too: it is kept, to tell such luck from error.
    golds = query.answers if kind in (Kind.ANSWERABLE, Kind.NEAR) else ()
    return Asked(
        set_name=question_set.name,
        lang=question_set.lang,
        scope=scope,
        kind=kind,
        qid=query.qid,
        cluster=question_set.cluster(query.relevant, query.qid),
        relevant=query.relevant if has_gold else (),
        golds=golds,
        is_long=query.is_long,
    )
