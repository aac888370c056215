"""Sizes of pages of lists."""

from services.common.errors import InvalidArgumentError, Reason

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1000


def checked_size(page_size: int) -> int:
    """Return the rows of a page, 1 to 1,000; raise InvalidArgumentError with FIELD_OUT_OF_RANGE."""
    if page_size < 0:
        raise InvalidArgumentError(
            Reason.FIELD_OUT_OF_RANGE,
            f"page_size must not be negative; 0 stands for {DEFAULT_PAGE_SIZE}, and at most {MAX_PAGE_SIZE} come.",
            field="page_size",
            most=MAX_PAGE_SIZE,
        )
    return min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
