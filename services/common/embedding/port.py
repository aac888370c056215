"""What a service embeds with, whichever model makes the vectors."""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from services.common.embedding.sentence_vectors import Span
from services.common.vectors import EmbeddedVector, Vector


class TextEmbedder(Protocol):
    """Makes vectors of one embedding space; use as `async with`."""

    async def __aenter__(self) -> Self:
        """Make ready; raise FailedPreconditionError when the model cannot be used as the settings say."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free what was taken."""
        ...

    @property
    def model_name(self) -> str:
        """Name of the model, as its embedding space bears it."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest text in tokens, the model's special ones included."""
        ...

    @property
    def batch(self) -> int:
        """Texts that a call should hold: a second or two of work."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the model's special ones, on the calling thread."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; raise as `embed` does."""
        ...

    async def embed(
        self, texts: Sequence[str], sentences: Sequence[Sequence[Span]] | None = None
    ) -> list[EmbeddedVector]:
        """Return one embedding per text, in order; packed vectors of `sentences` only where the model gives them.

        Raises InvalidArgumentError with TEXT_MALFORMED or TEXT_TOO_LONG_FOR_MODEL, ResourceExhaustedError with
        SERVICE_BUSY when too many calls are under way, and what the model's own failures are named.
        """
        ...
