"""One stack for all tests that only use it; those that break a stack make their own."""

from collections.abc import Iterator

import pytest

from tests.stack.local_stack import LocalStack, temporary_home

LEAVE = """---
title: Annual leave
---
# Annual leave

Every colleague has 25 days of annual leave a year. Up to 5 unused days may be carried over.

## Asking

Ask your manager two weeks ahead.
"""


@pytest.fixture(scope="session")
def stack() -> Iterator[LocalStack]:
    """A running stack with one document; its limits are out of the way of the tests."""
    with temporary_home() as home:
        yield from _running(LocalStack.in_folder(home, RATE_LIMIT_PER_MINUTE="100000"))


def _running(made: LocalStack) -> Iterator[LocalStack]:
    made.up()
    try:
        reply = made.post("/api/documents", {"source_url": "people/leave.md", "content": LEAVE})
        assert reply.status == 200, reply.body
        yield made
    finally:
        done = made.attest("down")
        assert done.returncode == 0, done.stderr


@pytest.fixture
def own_stack() -> Iterator[LocalStack]:
    """A stack that the test starts, breaks and leaves; whatever is left of it is stopped."""
    with temporary_home() as home:
        made = LocalStack.in_folder(home)
        yield made
        made.attest("down")
