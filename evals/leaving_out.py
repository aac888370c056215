"""The unanswerable twins of a question set, and the order in which documents are left out for them."""

import json
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.outcome import Kind
from evals.questions import DataError, QuestionSet, order

TRAPS_SCRIPT = Path("../shared/tools/qa/traps.py")
TRAPS_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Trap:
    """A question that cannot be answered while the documents of `leave_out` are away."""

    qid: str
    kind: Kind
    question: str
    leave_out: frozenset[str]


@dataclass(frozen=True, slots=True)
class Step:
    """Which documents to take out and put back, and what to ask then."""

    take_out: frozenset[str]
    put_back: frozenset[str]
    ask: Sequence[Trap]


def make(script: Path, question_set: QuestionSet, kinds: Collection[Kind]) -> list[Trap]:
    """Return the twins of the set's own questions that `script` makes of its folder; raise DataError when it cannot."""
    done = subprocess.run(
        [sys.executable, script, question_set.folder],
        capture_output=True,
        text=True,
        timeout=TRAPS_SECONDS,
        check=False,
    )
    if done.returncode:
        raise DataError(f"{script} could not make the twins of {question_set.folder}: {done.stderr.strip()[-300:]}")
    asked = {query.qid for query in question_set.queries if query.answerable}
    traps = [_trap(json.loads(line), question_set) for line in done.stdout.split("\n") if line.strip()]
    return [
        trap for trap in traps if trap.qid in asked and trap.kind in kinds and _leaves_something(trap, question_set)
    ]


def limited(traps: Sequence[Trap], most: int | None, question_set: QuestionSet) -> list[Trap]:
    """Return at most `most` twins of each kind, title by title, so that few documents have to move.

    Which titles come first depends on their names alone.
    """
    relevant = {query.qid: query.relevant for query in question_set.queries}
    ordered = sorted(traps, key=lambda trap: (order(question_set.cluster(relevant[trap.qid], trap.qid)), trap.qid))
    of_kind = {kind: [trap for trap in ordered if trap.kind is kind] for kind in Kind}
    return [trap for kind in Kind for trap in of_kind[kind][:most]]


def steps(traps: Sequence[Trap]) -> Iterator[Step]:
    """Yield the steps that ask every twin while its documents are away, and put all back at the end.

    Sets that share documents follow each other, so that few are embedded again.
    """
    groups: dict[frozenset[str], list[Trap]] = {}
    for trap in traps:
        groups.setdefault(trap.leave_out, []).append(trap)
    away: frozenset[str] = frozenset()
    for leave_out in sorted(groups, key=sorted):
        yield Step(leave_out - away, away - leave_out, groups[leave_out])
        away = leave_out
    if away:
        yield Step(frozenset(), away, ())


def _trap(row: dict[str, object], question_set: QuestionSet) -> Trap:
    leave_out = row["leave_out"] if isinstance(row["leave_out"], list) else []
    here = frozenset(str(doc_id) for doc_id in leave_out if str(doc_id) in question_set.documents)
    return Trap(str(row["qid"]), Kind(str(row["kind"])), str(row["question"]), here)


def _leaves_something(trap: Trap, question_set: QuestionSet) -> bool:
    return len(trap.leave_out) < len(question_set.documents)
