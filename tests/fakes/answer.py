"""Hand-made fakes of what the answer use-case needs."""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from hypothesis import strategies as st

from services.answer.ask import AskQuestion
from services.answer.extractive import ExtractiveGenerator
from services.answer.gate import EvidenceGate
from services.answer.guard import Guard, GuardMode
from services.answer.hashing import QuestionHasher
from services.answer.model import Draft, DraftSentence, Findings, Passage, Sources
from services.answer.ports import Generator, Retriever
from services.answer.question import Question
from services.answer.record import Record

MARKDOWN_PIECES = (
    "\n",
    "\n\n",
    "- ",
    "* ",
    "1. ",
    "> ",
    "> > ",
    "# ",
    "## ",
    "```\n",
    "~~~\n",
    "    ",
    "\t",
    "`",
    "**",
    "_",
    "\u00a0",
    "---\n",
    "===\n",
    "[1]",
    "[x](y)",
    "<!-- ",
    "-->",
    ". ",
    "! ",
    "? ",
    "e.g. ",
    "Dr. ",
    "v2.3.1 ",
    "3.5 % ",
    "\u3002",
    "\u2026 ",
    "\U0001f600",
    "Word ",
    "word ",
    "Another one. ",
    "\\",
    "| a | b |\n",
    "|---|---|\n",
    "|",
)
SALT = b"a salt of the tests, 16 or more"
MARKDOWN = st.lists(st.one_of(st.sampled_from(MARKDOWN_PIECES), st.text(max_size=5)), max_size=30).map("".join)
"""Text that looks like Markdown, or like nothing."""
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def passage(content: str, similarity: float = 0.8, **changes: object) -> Passage:
    """Make a passage of the handbook that holds `content`."""
    fields: dict[str, object] = {
        "passage_id": f"p-{hashlib.sha256(content.encode()).hexdigest()[:8]}",
        "document_id": "d-1",
        "lane": "default",
        "source": "Annual leave",
        "source_url": "handbook/leave.md",
        "version": 1,
        "page": None,
        "heading_path": (),
        "char_start": 0,
        "char_end": len(content),
        "content": content,
        "content_sha256": hashlib.sha256(content.encode()).hexdigest(),
        "similarity": similarity,
    }
    return Passage(**(fields | changes))  # type: ignore[arg-type]  # the fields are checked by their names


class FakeRetriever:
    """Finds what it was given, or raises it, and remembers what it was asked."""

    def __init__(self, passages: Iterable[Passage] = (), error: BaseException | None = None) -> None:
        self._findings = Findings(tuple(passages), 0.42, "all-MiniLM-L6-v2", 1.5, 2.5, 0.0)
        self._error = error
        self.asked: list[Question] = []

    async def search(self, question: Question) -> Findings:
        self.asked.append(question)
        if self._error is not None:
            raise self._error
        return self._findings


class HangingRetriever:
    """Never answers; says when it was asked."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def search(self, question: Question) -> Findings:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes this")


class CountingGenerator:
    """Writes what the given one writes and counts the calls."""

    def __init__(self, inner: Generator | None = None) -> None:
        self._inner = inner or ExtractiveGenerator()
        self.calls = 0

    async def generate(self, question_text: str, sources: Sources) -> Draft:
        self.calls += 1
        return await self._inner.generate(question_text, sources)


class ScriptedGenerator:
    """Writes the sentences that it was given, true or not."""

    def __init__(self, sentences: Sequence[DraftSentence]) -> None:
        self._sentences = tuple(sentences)

    async def generate(self, question_text: str, sources: Sources) -> Draft:
        return Draft(self._sentences, "scripted")


class RecordingSink:
    """Keeps records in a list."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def write(self, record: Record) -> None:
        self.records.append(record)


class TickingClock:
    """Gains a quarter of a second whenever it is read."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def now(self) -> datetime:
        return NOON

    def elapsed(self) -> float:
        self._seconds += 0.25
        return self._seconds


def asking(
    retriever: Retriever,
    sink: RecordingSink | None = None,
    *,
    generator: Generator | None = None,
    mode: GuardMode = GuardMode.LOG,
) -> AskQuestion:
    """Wire the use-case with fakes in place of the world."""
    return AskQuestion(
        guard=Guard(mode),
        hasher=QuestionHasher(SALT),
        retriever=retriever,
        gate=EvidenceGate(),
        generator=generator or ExtractiveGenerator(),
        records=sink or RecordingSink(),
        clock=TickingClock(),
    )
