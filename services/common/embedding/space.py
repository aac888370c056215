"""A service and the library that it finds must be of one embedding model."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from services.common.errors import DomainError, FailedPreconditionError, Reason


class Space(Protocol):
    """The embedding space that is searched."""

    @property
    def model(self) -> str:
        """Model that made its vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        ...


async def check_active_space(active_space: Callable[[], Awaitable[Space]], model: str, dimensions: int) -> None:
    """Refuse to start beside vectors of another model, since two in one library turn every ranking into noise (F11).

    A database that cannot be asked yet, or holds no space, is no refusal: each call looks again. Raises
    FailedPreconditionError with SPACE_MISMATCH.
    """
    try:
        space = await active_space()
    except (DomainError, TimeoutError, OSError):
        return
    if (space.model, space.dimensions) != (model, dimensions):
        raise FailedPreconditionError(
            Reason.SPACE_MISMATCH,
            f"The library was embedded by {space.model} ({space.dimensions} dimensions), and this service is set to "
            f"{model} ({dimensions}). Set ATTEST_EMBEDDING_MODEL and ATTEST_EMBEDDING_DIMENSIONS back to what the "
            "library has, or start with an empty ATTEST_HOME or database and ingest the documents anew.",
        )
