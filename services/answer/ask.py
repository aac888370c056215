"""The life of a question, from the text that came in to the answer and the record that is kept."""

from dataclasses import dataclass

from services.answer.citations import render
from services.answer.gate import EvidenceGate
from services.answer.guard import Guard
from services.answer.hashing import QuestionHasher
from services.answer.model import Draft, Findings, Outcome, Reply, Sources, number
from services.answer.ports import Clock, Generator, RecordSink, Retriever
from services.answer.question import Question, RawQuestion
from services.answer.record import GuardVerdict, Record, Trail
from services.answer.verify import released, verify
from services.common.identity import Principal

NO_EVIDENCE = "The documents hold nothing close enough to this question to answer from."
LOW_SUPPORT = "Nothing that could be written for this question held against the sources, so there is no answer."
BLOCKED = "The question looks like an attempt to change how it is answered; ask it in plain words."


@dataclass(frozen=True, slots=True)
class Answer:
    """What the asker gets and what is kept of it."""

    reply: Reply
    record: Record


class AskQuestion:
    """Answers one question of one caller, and writes exactly one record of it, however it ends."""

    def __init__(
        self,
        *,
        guard: Guard,
        hasher: QuestionHasher,
        retriever: Retriever,
        gate: EvidenceGate,
        generator: Generator,
        records: RecordSink,
        clock: Clock,
    ) -> None:
        """Take the parts that a question passes, in order."""
        self._guard = guard
        self._hasher = hasher
        self._retriever = retriever
        self._gate = gate
        self._generator = generator
        self._records = records
        self._clock = clock

    async def __call__(self, raw: RawQuestion, caller: Principal, trace_id: str) -> Answer:
        """Answer the question; raises what `Question.parse`, the retriever and the generator raise."""
        started = self._clock.elapsed()
        trail = Trail(trace_id)
        try:
            reply = await self._reply(raw, caller, trail)
        except BaseException as error:
            self._records.write(trail.failed(error, self._clock.now(), self._clock.elapsed() - started))
            raise
        record = trail.ended(reply.outcome, self._clock.now(), self._clock.elapsed() - started)
        self._records.write(record)
        return Answer(reply, record)

    async def _reply(self, raw: RawQuestion, caller: Principal, trail: Trail) -> Reply:
        question = Question.parse(raw)
        screening = self._guard.screen(question.text)
        trail.screened(screening.verdict, screening.rules)
        trail.hashed(self._hasher.hash(caller.tenant, question.text), len(question.text))
        if screening.verdict is GuardVerdict.REFUSED:
            return Reply(Outcome.BLOCKED, BLOCKED)
        findings = await self._retriever.search(question)
        trail.found(findings)
        if not self._is_enough(findings, trail):
            return Reply(Outcome.NO_EVIDENCE, NO_EVIDENCE)
        sources = number(findings.passages)
        draft = await self._draft(question, sources, trail)
        return self._checked(draft, sources, trail)

    def _is_enough(self, findings: Findings, trail: Trail) -> bool:
        decision = self._gate.decide((passage.similarity for passage in findings.passages), findings.gate_start)
        if not decision.enough:
            trail.withheld(decision.reason.value)
        return decision.enough

    async def _draft(self, question: Question, sources: Sources, trail: Trail) -> Draft:
        started = self._clock.elapsed()
        draft = await self._generator.generate(question.text, sources)
        trail.generated(draft, self._clock.elapsed() - started)
        return draft

    def _checked(self, draft: Draft, sources: Sources, trail: Trail) -> Reply:
        started = self._clock.elapsed()
        sentences = released(verify(draft.sentences, sources))
        trail.verified(self._clock.elapsed() - started)
        if not sentences:
            return Reply(Outcome.LOW_SUPPORT, LOW_SUPPORT, sources)
        return Reply(Outcome.ANSWERED, render(sentences), sources, sentences)
