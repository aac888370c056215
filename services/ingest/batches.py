"""Long mappings in handy parts."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def batches(items: Mapping[Key, Value], size: int) -> Iterator[dict[Key, Value]]:
    """Yield the items in their order, `size` at a time."""
    remaining: Iterator[tuple[Key, Value]] = iter(items.items())
    while batch := dict(islice(remaining, size)):
        yield batch


def lists(items: Iterable[Value], size: int) -> Iterator[list[Value]]:
    """Yield the items in their order, `size` at a time."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
