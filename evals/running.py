"""One whole run: a stack, the sets of each language, and each set written down as soon as it is measured."""

import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from evals import leaving_out, provenance
from evals.leaving_out import Trap
from evals.measuring import Measuring, Observer, Shelf
from evals.outcome import Kind, Scope
from evals.product import Product
from evals.questions import QuestionSet, digest
from evals.stack import add_lanes, lane_names, running
from evals.storage import SetFacts, WorkFolder
from evals.threshold import MODEL_LANGUAGE

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run measures."""

    sets: Sequence[QuestionSet]
    settings: Mapping[str, str]
    """ATTEST_ variables of the stack, without the prefix."""
    traps: Path | None
    """Script that makes the unanswerable twins; none are asked without it."""
    most_traps: int | None
    """Most twins of each kind that are asked of a set."""
    swap_sets: Sequence[str]
    """Sets in which a swapped name makes a question unanswerable."""

    def described(self) -> Mapping[str, object]:
        """Return what must be the same for a stopped run to go on."""
        return {
            "settings": dict(self.settings),
            "traps": self.traps is not None,
            "most_traps": self.most_traps,
            "sizes": {one.name: [len(one.documents), len(one.queries)] for one in self.sets},
        }


async def run(plan: Plan, work: WorkFolder, observer: Observer) -> None:
    """Measure what is not in `work` yet; raise StackError or DataError."""
    todo = [one.name for one in plan.sets if not work.has(one.name, digest(one.folder))]
    if not todo:
        return
    lanes = lane_names([one.name for one in plan.sets])
    traps = {one.name: _traps(plan, one) for one in plan.sets if one.name in todo}
    with running(plan.settings) as stack:
        await add_lanes(stack, list(lanes.values()))
        async with Product.at(stack.ports) as product:
            measuring = Measuring(product, lanes, observer)
            for _, group in groupby(sorted(plan.sets, key=_by_language), key=lambda one: one.lang):
                await _language(list(group), todo, traps, measuring, work, plan.settings)


async def _language(
    sets: Sequence[QuestionSet],
    todo: Sequence[str],
    traps: Mapping[str, Sequence[Trap]],
    measuring: Measuring,
    work: WorkFolder,
    settings: Mapping[str, str],
) -> None:
    """Measure the sets of one language, each alone and, where there are several, among the others."""
    if not any(one.name in todo for one in sets):
        return
    ingested = {one.name: await _timed(measuring.fill(one)) for one in sets}
    for one in sets:
        if one.name not in todo:
            continue
        scopes = {Scope.ALONE: [one.name]}
        if len(sets) > 1:
            scopes[Scope.TOGETHER] = [other.name for other in sets]
        own, asking = await _timed(measuring.ask(one, scopes))
        twins, tempting = await _timed(measuring.tempt(one, scopes, traps[one.name]))
        shelf, filling = ingested[one.name]
        seconds = {"documents": filling, "questions": asking, "traps": tempting}
        space = {**await measuring.product.space(), "precision": provenance.precision(settings)}
        together = sum(sum(other.chunks.values()) for other, _ in ingested.values())
        work.save(_facts(one, shelf, seconds, space, together), [*own, *twins])


async def _timed(work: Awaitable[T]) -> tuple[T, float]:
    """Return the result and the seconds it took."""
    began = time.monotonic()
    result = await work
    return result, round(time.monotonic() - began, 1)


def _traps(plan: Plan, question_set: QuestionSet) -> list[Trap]:
    if plan.traps is None:
        return []
    kinds = {Kind.OFF, Kind.NEAR} | ({Kind.SWAP} if question_set.name in plan.swap_sets else set())
    made = leaving_out.make(plan.traps, question_set, kinds)
    return leaving_out.limited(made, plan.most_traps, question_set)


def _facts(
    question_set: QuestionSet, shelf: Shelf, seconds: Mapping[str, float], space: Mapping[str, object], together: int
) -> SetFacts:
    return SetFacts(
        name=question_set.name,
        lang=question_set.lang,
        digest=digest(question_set.folder),
        commit=provenance.commit(),
        documents=len(question_set.documents),
        chunks=sum(shelf.chunks.values()),
        refused=shelf.refused,
        questions=len(question_set.queries),
        seconds=seconds,
        space=space,
        together_chunks=together,
    )


def _by_language(question_set: QuestionSet) -> tuple[bool, str, str]:
    """Put the language that the model was made for first: what is stopped early has the figures that matter most."""
    return question_set.lang != MODEL_LANGUAGE, question_set.lang, question_set.name
