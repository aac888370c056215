"""What is kept of one question that was asked: facts only, from which every figure is computed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


class Kind(StrEnum):
    """What kind of question it was."""

    ANSWERABLE = "answerable"
    UNANSWERABLE = "unanswerable"
    """Labelled so by whoever made the set."""
    OFF = "off"
    """Every document of the gold document's title was left out."""
    NEAR = "near"
    """The gold documents were left out."""
    SWAP = "swap"
    """A year was moved, or a name replaced by one from elsewhere."""


class Scope(StrEnum):
    """What was searched."""

    ALONE = "alone"
    """The set's own corpus."""
    TOGETHER = "together"
    """All corpora of the language."""


ANSWERED = "ANSWERED"
FAILED = "FAILED"
"""The call failed: not an outcome of a good request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, what was found for it and what was answered."""

    set_name: str
    lang: str
    scope: Scope
    kind: Kind
    qid: str
    cluster: str
    """What the question shares its luck with: its article or paper."""
    relevant: tuple[str, ...] = ()
    golds: tuple[str, ...] = ()
    is_long: bool = False
    ranked: tuple[str, ...] = ()
    """Documents in the order of their best passage, among ten passages at the space's own chunk filter."""
    ranked_unfiltered: tuple[str, ...] = ()
    """The same with the chunk filter off."""
    best_cosine: float | None = None
    """Cosine of the closest passage, chunk filter off; None where nothing is stored."""
    gold_cosine: float | None = None
    """Cosine of the closest passage of a gold document among ten; None where there is none."""
    outcome: str = FAILED
    error: str = ""
    """Code of the status of a call that failed."""
    answer: str = ""
    """Sentences without their markers."""
    sentences: int = 0
    citation_faults: tuple[str, ...] = ()
    """What is wrong with the citations; empty when all is well."""
    answer_ms: float = 0.0

    @property
    def answered(self) -> bool:
        """Tell whether there was an answer."""
        return self.outcome == ANSWERED

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Read what `to_json` returned."""
        values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        values |= {"scope": Scope(row["scope"]), "kind": Kind(row["kind"])}
        return cls(**values)
