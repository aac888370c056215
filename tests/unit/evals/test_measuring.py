"""The measurement on a product that is faked: what is asked, where, and while which documents are away."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from attest.answer.v1 import answer_service_pb2 as answers
from attest.retrieval.v1 import retrieval_service_pb2 as searches
from evals.leaving_out import Trap
from evals.measuring import Measuring
from evals.outcome import Asked, Kind, Scope
from evals.product import CallError
from evals.questions import Document, QuestionSet, load
from tests.unit.evals.made import DOCUMENTS, QUERIES, write_set

ANSWERED = answers.AnswerOutcome.ANSWERED
NO_EVIDENCE = answers.AnswerOutcome.NO_EVIDENCE


@dataclass
class FakeProduct:
    """Finds every document of a lane that shares a word with the question, and answers when there is one."""

    refuses: frozenset[str] = frozenset()
    fails: frozenset[str] = frozenset()
    stored: dict[str, tuple[str, Document]] = field(default_factory=dict)
    ingested: list[str] = field(default_factory=list)

    async def ingest(self, lane: str, document: Document) -> tuple[str, int]:
        if document.doc_id in self.refuses:
            raise CallError("INVALID_ARGUMENT", "no")
        document_id = f"{lane}:{document.doc_id}:{len(self.ingested)}"
        self.stored[document_id] = lane, document
        self.ingested.append(document.doc_id)
        return document_id, 2

    async def delete(self, document_id: str) -> None:
        del self.stored[document_id]

    async def search(
        self, question: str, lanes: Sequence[str], top_k: int, min_similarity: float | None = None
    ) -> searches.SearchResponse:
        words = set(question.strip("?").split())
        found = [
            searches.Passage(document_id=document_id, similarity=0.5, content=document.text)
            for document_id, (lane, document) in self.stored.items()
            if lane in lanes and words & set(document.text.strip(".").split())
        ]
        twice = [passage for passage in found for _ in range(2)]
        return searches.SearchResponse(passages=twice[:top_k])

    async def answer(self, question: str, lanes: Sequence[str]) -> answers.AnswerResponse:
        if question in self.fails:
            raise CallError("UNAVAILABLE", "away")
        found = (await self.search(question, lanes, 1)).passages
        if not found:
            return answers.AnswerResponse(outcome=NO_EVIDENCE)
        text = found[0].content
        return answers.AnswerResponse(
            outcome=ANSWERED,
            answer=f"{text} [1]",
            sources=[answers.Source(n=1, content=text)],
            sentences=[
                answers.Sentence(
                    text=text,
                    citations=[1],
                    support=[answers.SupportSpan(n=1, char_start=0, char_end=len(text))],
                )
            ],
        )


class Steps:
    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []
        self.done = 0

    def begins(self, what: str, steps: int) -> None:
        self.told.append((what, steps))

    def step(self) -> None:
        self.done += 1


@pytest.fixture
def cities(tmp_path: Path) -> QuestionSet:
    return load(write_set(tmp_path / "cities", DOCUMENTS, QUERIES))


def measuring(product: Any, observer: Steps | None = None) -> Measuring:
    return Measuring(product, {"cities": "1-cities", "rivers": "2-rivers"}, observer or Steps())


def one(asked: list[Asked], qid: str, kind: Kind = Kind.ANSWERABLE, scope: Scope = Scope.ALONE) -> Asked:
    return next(row for row in asked if (row.qid, row.kind, row.scope) == (qid, kind, scope))


ALONE = {Scope.ALONE: ["cities"]}


async def test_a_question_keeps_what_was_found_and_answered(cities: QuestionSet) -> None:
    measured = measuring(FakeProduct())
    shelf = await measured.fill(cities)
    berlin = one(await measured.ask(cities, ALONE), "q1")

    assert sum(shelf.chunks.values()) == 6
    # a document that has several passages stands once, at its best one
    assert berlin.ranked == ("b1",)
    assert (berlin.gold_cosine, berlin.best_cosine, berlin.outcome) == (0.5, 0.5, "ANSWERED")
    assert berlin.citation_faults == ()
    assert berlin.golds == ("Spree",)


async def test_a_question_is_asked_in_every_scope(cities: QuestionSet) -> None:
    product = FakeProduct()
    measured = measuring(product)
    await measured.fill(cities)
    await product.ingest("2-rivers", Document("r1", "Rivers", "The river Is long"))
    scopes = {**ALONE, Scope.TOGETHER: ["cities", "rivers"]}
    asked = await measured.ask(cities, scopes)

    assert len(one(asked, "q1", scope=Scope.TOGETHER).ranked) == len(one(asked, "q1").ranked) + 1


async def test_a_twin_is_asked_while_its_documents_are_away_and_they_come_back(cities: QuestionSet) -> None:
    product = FakeProduct()
    measured = measuring(product)
    await measured.fill(cities)
    traps = [
        Trap("q2", Kind.NEAR, "Seine", frozenset({"p1"})),
        Trap("q2", Kind.OFF, "Seine", frozenset({"b1"})),
    ]
    asked = await measured.tempt(cities, ALONE, traps)

    assert one(asked, "q2", Kind.NEAR).outcome == "NO_EVIDENCE"
    assert one(asked, "q2", Kind.OFF).outcome == "ANSWERED"
    assert {document.doc_id for _, document in product.stored.values()} == {"b1", "b2", "p1"}


async def test_a_document_that_came_back_is_known_by_its_new_id(cities: QuestionSet) -> None:
    measured = measuring(FakeProduct())
    await measured.fill(cities)
    await measured.tempt(cities, ALONE, [Trap("q1", Kind.NEAR, "?", frozenset({"b1"}))])

    assert "b1" in one(await measured.ask(cities, ALONE), "q1").ranked


async def test_a_refused_document_is_noted_and_not_tried_again(cities: QuestionSet) -> None:
    product = FakeProduct(refuses=frozenset({"b1"}))
    measured = measuring(product)
    shelf = await measured.fill(cities)
    await measured.tempt(cities, ALONE, [Trap("q1", Kind.NEAR, "?", frozenset({"b1"}))])

    assert shelf.refused == {"b1": "INVALID_ARGUMENT"}
    assert sorted(product.ingested) == ["b2", "p1"]


async def test_a_call_that_failed_is_noted_and_the_rest_is_asked(cities: QuestionSet) -> None:
    measured = measuring(FakeProduct(fails=frozenset({QUERIES[0]["question"]})))
    await measured.fill(cities)
    asked = await measured.ask(cities, ALONE)

    assert (one(asked, "q1").error, one(asked, "q1").answered) == ("UNAVAILABLE", False)
    assert one(asked, "q2").error == ""


async def test_progress_counts_every_question(cities: QuestionSet) -> None:
    steps = Steps()
    measured = measuring(FakeProduct(), steps)
    await measured.fill(cities)
    await measured.ask(cities, ALONE)
    await measured.tempt(cities, ALONE, [Trap("q1", Kind.NEAR, "?", frozenset({"b1"}))])

    assert [count for _, count in steps.told] == [3, 3, 1]
    assert steps.done == 7
