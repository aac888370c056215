"""What answer works with: passages, a draft of them, and the sentences that may be shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable span of a document as retrieval found it; offsets in code points of the stored text (of the page)."""

    passage_id: str
    document_id: str
    lane: str
    source: str
    """Title, or the last part of the path."""
    source_url: str
    version: int
    page: int | None
    heading_path: tuple[str, ...]
    char_start: int
    char_end: int
    content: str
    content_sha256: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search found, best first, and where its time went, in milliseconds."""

    passages: tuple[Passage, ...]
    gate_start: float
    """Least cosine of the closest passage for an answer, as it was set for the space that was searched."""
    embedding_model: str = ""
    embed_ms: float = 0.0
    vector_search_ms: float = 0.0
    lexical_search_ms: float = 0.0


Sources: TypeAlias = Mapping[int, Passage]
"""The passages given to the generator by the number that `[n]` stands for; fixed before it is called (F100)."""


def number(passages: tuple[Passage, ...]) -> Sources:
    """Give each passage its number, counted from 1, in rank order."""
    return dict(enumerate(passages, 1))


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence as a generator proposes it: its text without markers, and the numbers it claims."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model consumed; all zero when no model was called."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated_cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Draft:
    """What a generator wrote, before any check."""

    sentences: tuple[DraftSentence, ...]
    generator: str
    """Name for the record. Example: `extractive`."""
    usage: Usage = field(default_factory=Usage)


class Verdict(Enum):
    """What the service's own check of a sentence found."""

    QUOTED = auto()
    """Stands word for word in a cited passage."""
    UNSUPPORTED = auto()
    """Does not; never released."""


@dataclass(frozen=True, slots=True)
class SupportSpan:
    """Where a sentence stands: source number, and code points of its content."""

    n: int
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence with its verdict; `citations` are numbers of sources, at least one when it is released."""

    text: str
    verdict: Verdict
    citations: tuple[int, ...]
    support: tuple[SupportSpan, ...]


class Outcome(Enum):
    """How a good request ended."""

    ANSWERED = auto()
    NO_EVIDENCE = auto()
    LOW_SUPPORT = auto()
    BLOCKED = auto()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the asker gets; `text` is the answer with its markers, or a fixed sentence that says why there is none."""

    outcome: Outcome
    text: str
    sources: Sources = field(default_factory=dict)
    sentences: tuple[CheckedSentence, ...] = ()

    @property
    def cited(self) -> frozenset[int]:
        """Numbers of the sources that a released sentence cites."""
        return frozenset(n for sentence in self.sentences for n in sentence.citations)
