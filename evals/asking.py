"""Asks the product one question and keeps what came of it."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from attest.answer.v1 import answer_service_pb2 as answers
from attest.retrieval.v1 import retrieval_service_pb2 as searches
from evals.citations import faults
from evals.outcome import ANSWERED, Asked
from evals.product import CallError, Product

TOP_K = 10
NO_FILTER = -1.0


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks in one scope; `doc_ids` gives the set's name of a stored document."""

    product: Product
    lanes: Sequence[str]
    doc_ids: dict[str, str]

    async def ask(self, question: str, about: Asked) -> Asked:
        """Return `about` with what was found and answered; a call that failed is noted, not raised."""
        try:
            found = await self.product.search(question, self.lanes, TOP_K)
            unfiltered = await self.product.search(question, self.lanes, TOP_K, NO_FILTER)
            about = self._found(about, found, unfiltered)
            return await self._answered(question, about)
        except CallError as error:
            return replace(about, error=error.name)

    async def tempt(self, question: str, about: Asked) -> Asked:
        """As `ask`, for a question without gold documents: no ranking is kept."""
        try:
            unfiltered = await self.product.search(question, self.lanes, 1, NO_FILTER)
            about = replace(about, best_cosine=_best(unfiltered.passages))
            return await self._answered(question, about)
        except CallError as error:
            return replace(about, error=error.name)

    def _found(self, about: Asked, found: searches.SearchResponse, unfiltered: searches.SearchResponse) -> Asked:
        gold = [passage for passage in unfiltered.passages if self.doc_ids.get(passage.document_id) in about.relevant]
        return replace(
            about,
            ranked=self._ranked(found.passages),
            ranked_unfiltered=self._ranked(unfiltered.passages),
            best_cosine=_best(unfiltered.passages),
            gold_cosine=_best(gold),
        )

    def _ranked(self, passages: Iterable[searches.Passage]) -> tuple[str, ...]:
        """Return the documents in the order of their best passage; one unknown to this run keeps its place."""
        return tuple(dict.fromkeys(self.doc_ids.get(passage.document_id, passage.document_id) for passage in passages))

    async def _answered(self, question: str, about: Asked) -> Asked:
        began = time.perf_counter()
        response = await self.product.answer(question, self.lanes)
        took = (time.perf_counter() - began) * 1000
        outcome = answers.AnswerOutcome.Outcome.Name(response.outcome)
        return replace(
            about,
            outcome=outcome,
            answer=" ".join(sentence.text for sentence in response.sentences),
            sentences=len(response.sentences),
            citation_faults=faults(response) if outcome == ANSWERED else (),
            answer_ms=round(took, 2),
        )


def _best(passages: Iterable[searches.Passage]) -> float | None:
    return max((round(passage.similarity, 4) for passage in passages), default=None)
