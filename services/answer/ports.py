"""What the answer use-case needs of the world."""

from datetime import datetime
from typing import Protocol

from services.answer.model import Draft, Findings, Sources
from services.answer.question import Question
from services.answer.record import Record


class Retriever(Protocol):
    """Finds passages for a question, as the caller whose call this is may see them."""

    async def search(self, question: Question) -> Findings:
        """Return passages, best first, at most `question.top_k`; raise what retrieval refused the question for.

        Raises UnavailableError with RETRIEVAL_UNAVAILABLE and DeadlineExceededError.
        """
        ...


class Generator(Protocol):
    """Writes a draft from numbered passages; it never abstains and what it claims is checked by others."""

    async def generate(self, question_text: str, sources: Sources) -> Draft:
        """Return the draft; its sentences cite by the numbers of `sources`."""
        ...


class RecordSink(Protocol):
    """Keeps the records of requests."""

    def write(self, record: Record) -> None:
        """Keep one record; must not block."""
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the time of day, in UTC."""
        ...

    def elapsed(self) -> float:
        """Return seconds since some fixed moment; never runs backwards."""
        ...
