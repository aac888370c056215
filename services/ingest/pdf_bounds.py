"""What is read of a PDF at most, how its text is stored, and how it is refused."""

from dataclasses import dataclass

from services.common.errors import InvalidArgumentError, Reason
from services.common.text import normalise

_NO_CHARACTERS = {0xFFFE: None, 0xFFFF: None}
"""Code points that stand for no character; broken fonts map to them."""


@dataclass(frozen=True, slots=True)
class PdfLimits:
    """Bounds of what is read of one PDF."""

    pages: int = 5_000
    characters: int = 20_000_000


def stored(text: str) -> str:
    """Return the text of a page as it is stored."""
    return normalise(text.translate(_NO_CHARACTERS))


def damaged() -> InvalidArgumentError:
    """Make the refusal of what cannot be read."""
    return InvalidArgumentError(
        Reason.DOCUMENT_DAMAGED, "The PDF is damaged and cannot be read; save or print it to a new PDF and send that."
    )


def check_count(count: int, limits: PdfLimits) -> None:
    """Raise InvalidArgumentError with DOCUMENT_TOO_LARGE where there are too many pages."""
    if count > limits.pages:
        raise _too_large(f"The PDF has {count} pages and may have {limits.pages}", pages=count, most=limits.pages)


def check_characters(left: int) -> None:
    """Raise InvalidArgumentError with DOCUMENT_TOO_LARGE where fewer than no characters are left."""
    if left < 0:
        raise _too_large("The PDF has more text than one document may have")


def _too_large(problem: str, **metadata: int) -> InvalidArgumentError:
    return InvalidArgumentError(Reason.DOCUMENT_TOO_LARGE, f"{problem}; split it.", **metadata)
