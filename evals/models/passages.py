"""A question set cut into passages as the product cuts it, with the passages that hold each answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.questions import QUERIES, Query, QuestionSet, load
from services.common.embedding.files import packaged_minilm
from services.common.embedding.sentence_vectors import Span
from services.common.embedding.tokens import Tokens
from services.ingest import cuts
from services.ingest.chunking import chunk
from services.ingest.media import MARKDOWN
from services.ingest.model import Lane
from services.ingest.readers import read_document

LANE = Lane("default", "", 200, 30)
"""The lane that a new library has."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the numbers of its gold passages."""

    text: str
    gold: frozenset[int]
    cluster: str
    """Gold document: questions of one share their luck."""


@dataclass(frozen=True, slots=True)
class PassageSet:
    """Passages of a whole corpus, and the answerable questions about it."""

    name: str
    passages: Sequence[str]
    """What the product embeds: title, headings and text."""
    sentences: Sequence[Sequence[Span]]
    questions: Sequence[Question]
    by_document: int
    """Questions whose answer stands in no single passage: any passage of a gold document counts for them."""


def passage_set(folder: Path) -> PassageSet:
    """Cut the set in `folder`; unanswerable questions are left out."""
    full = load(folder)
    tokens = Tokens(packaged_minilm())
    passages: list[str] = []
    owners: dict[str, list[int]] = {}
    for doc_id, document in full.documents.items():
        read = read_document(document.text, MARKDOWN, doc_id, document.title or None)
        made = chunk(read, LANE, tokens)
        owners[doc_id] = list(range(len(passages), len(passages) + len(made)))
        passages += [each.embedding_text for each in made]
    plain = [_plain(passage) for passage in passages]
    evidence = _evidence(folder)
    questions: list[Question] = []
    by_document = 0
    for query in full.queries:
        if query.answerable:
            candidates = [number for doc_id in query.relevant for number in owners[doc_id]]
            gold = _holding(plain, candidates, [*query.answers, *evidence.get(query.qid, ())])
            by_document += not gold
            questions.append(Question(query.question, frozenset(gold or candidates), _cluster(full, query)))
    spans = [list(cuts.sentences(passage, 0, len(passage))) for passage in passages]
    return PassageSet(full.name, passages, spans, questions, by_document)


def _evidence(folder: Path) -> dict[str, list[str]]:
    rows = (json.loads(line) for line in (folder / QUERIES).read_text(encoding="utf-8").split("\n") if line.strip())
    return {row["qid"]: row.get("evidence_sentences") or [] for row in rows}


def _cluster(full: QuestionSet, query: Query) -> str:
    return full.cluster(query.relevant, query.qid)


def _holding(plain: Sequence[str], candidates: Sequence[int], answers: Sequence[str]) -> list[int]:
    """Return the candidates that hold an answer, or at least ten words that are part of a longer one."""
    wanted = [answer for answer in map(_plain, answers) if answer]
    return [
        number
        for number in candidates
        if any(answer in plain[number] or _is_part(plain[number], answer) for answer in wanted)
    ]


def _is_part(passage: str, answer: str) -> bool:
    """Tell whether a run of ten words from the passage's middle stands in the answer."""
    words = passage.split()
    middle = len(words) // 2
    run = words[max(0, middle - 5) : middle + 5]
    return len(run) == 10 and " ".join(run) in answer


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
