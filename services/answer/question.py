"""A question, checked before anything is done with it."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from services.common.errors import InvalidArgumentError, Reason, UnimplementedError
from services.common.text import is_well_formed

MAX_CHARS = 4_000
MAX_LANES = 32
MAX_TOP_K = 20
DEFAULT_TOP_K = 5

_LANE = re.compile(r"[a-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class RawQuestion:
    """A question as it came in; absent fields are None."""

    text: str
    lanes: Sequence[str] = ()
    top_k: int | None = None
    min_similarity: float | None = None
    turns: int = 0
    """Turns of the conversation before the question."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that may be asked."""

    text: str
    """Trimmed, 1 to 4,000 code points."""
    lanes: tuple[str, ...] = ()
    """Lanes to search; all that the caller may read when empty."""
    top_k: int = DEFAULT_TOP_K
    min_similarity: float | None = None
    """Least cosine similarity; None means the default of the embedding space, 0.0 means 0.0."""

    @classmethod
    def parse(cls, raw: RawQuestion) -> "Question":
        """Check every bound.

        Raises InvalidArgumentError with QUESTION_BLANK, QUESTION_TOO_LONG, TEXT_MALFORMED, FIELD_OUT_OF_RANGE or
        FIELD_INVALID, and UnimplementedError when there are turns before the question.
        """
        text = _text(raw.text)
        if raw.turns:
            raise UnimplementedError(
                Reason.NOT_IMPLEMENTED, "history is not served yet; ask a question that stands alone.", field="history"
            )
        return cls(text, _lanes(raw.lanes), _top_k(raw.top_k), _min_similarity(raw.min_similarity))


def _text(raw: str) -> str:
    if not is_well_formed(raw):
        raise InvalidArgumentError(
            Reason.TEXT_MALFORMED, "question holds NUL or a lone surrogate; send well-formed text.", field="question"
        )
    text = raw.strip()
    if all(unicodedata.category(char)[0] in "CZ" for char in text):
        raise InvalidArgumentError(Reason.QUESTION_BLANK, "question is blank; ask something.", field="question")
    if len(text) > MAX_CHARS:
        raise InvalidArgumentError(
            Reason.QUESTION_TOO_LONG,
            f"question has {len(text)} characters; shorten it to {MAX_CHARS}.",
            field="question",
            length=len(text),
            maxLength=MAX_CHARS,
        )
    return text


def _lanes(lanes: Sequence[str]) -> tuple[str, ...]:
    if len(lanes) > MAX_LANES:
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE,
            f"lanes are {len(lanes)}; name at most {MAX_LANES}.",
            field="lanes",
            max=MAX_LANES,
        )
    if not all(_LANE.fullmatch(lane) for lane in lanes):
        raise InvalidArgumentError(
            Reason.FIELD_INVALID,
            "lanes holds a name that no lane can have; use 1 to 64 of a-z, 0-9, '_' and '-'.",
            field="lanes",
        )
    return tuple(dict.fromkeys(lanes))


def _top_k(top_k: int | None) -> int:
    if top_k is None:
        return DEFAULT_TOP_K
    if not 1 <= top_k <= MAX_TOP_K:
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE,
            f"top_k is {top_k}; give 1 to {MAX_TOP_K}, or leave it out for {DEFAULT_TOP_K}.",
            field="top_k",
            min=1,
            max=MAX_TOP_K,
        )
    return top_k


def _min_similarity(value: float | None) -> float | None:
    if value is not None and not -1 <= value <= 1:  # NaN fails every comparison
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE,
            f"min_similarity is {value}; give -1 to 1, or leave it out for the default of the embedding space.",
            field="min_similarity",
            min=-1,
            max=1,
        )
    return value
