"""What a failure of Postgres is called."""

import asyncpg
import pytest

from services.common.errors import Reason, ResourceExhaustedError
from services.common.postgres.failures import domain_error


@pytest.mark.parametrize("sqlstate", ["53100", "25006"])
def test_a_disk_without_room_is_named_as_such(sqlstate: str) -> None:
    named = domain_error(asyncpg.PostgresError.new({"C": sqlstate, "M": "No space left on device"}))

    assert isinstance(named, ResourceExhaustedError)
    assert named.reason is Reason.STORAGE_FULL
    assert "free some space" in named.message


def test_want_of_memory_is_not_called_slowness() -> None:
    named = domain_error(asyncpg.PostgresError.new({"C": "53200", "M": "out of memory"}))

    assert named is not None
    assert (named.reason, "memory" in named.message) == (Reason.SERVICE_BUSY, True)
