"""A stack of the evaluation's own: a temporary home, free ports, a lane for each question set."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from services.common.postgres.connect import connection
from services.common.postgres.settings import DATABASE, DatabaseSettings, Role
from tests.stack.local_stack import LocalStack

_THREADS = {"INGEST_EMBED_THREADS": "2", "RETRIEVAL_EMBED_THREADS": "2"}
# There is no call that makes a lane, so the owner does. A lane's rules are those of the default one.
_ADD_LANES = """
INSERT INTO attest.lanes (name, description, chunk_tokens, overlap_tokens)
SELECT added.name, 'A question set of the evaluation.', d.chunk_tokens, d.overlap_tokens
FROM unnest($1::text[]) AS added (name), attest.lanes d WHERE d.name = 'default'
"""


class StackError(Exception):
    """The stack did not start; the message is what `attest up` said."""


@contextmanager
def running(settings: Mapping[str, str]) -> Iterator[LocalStack]:
    """Run a stack for the length of the block and leave nothing of it; `settings` are ATTEST_ variables without prefix.

    Raises StackError when it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="attest-eval-") as folder:
        Path(folder).chmod(0o755)  # the account of Postgres must be able to enter
        stack = LocalStack.in_folder(Path(folder) / "home", **{**_THREADS, **settings})
        try:
            done = stack.attest("up")
            if done.returncode:
                raise StackError(done.stderr.strip())
            yield stack
        finally:
            stack.attest("down")


async def add_lanes(stack: LocalStack, names: Sequence[str]) -> None:
    """Make the lanes."""
    secrets = json.loads((stack.home / "secrets.json").read_text(encoding="utf-8"))
    owner = DatabaseSettings("127.0.0.1", stack.ports["PG"], DATABASE, Role.OWNER.value, secrets["owner_password"])
    async with connection(owner) as database:
        await database.execute(_ADD_LANES, list(names))


def lane_names(sets: Sequence[str]) -> Mapping[str, str]:
    """Return a lane's name for each set: its own in lower case, with a number before it so that no two are alike."""
    return {
        name: f"{number}-{re.sub('[^a-z0-9_-]', '-', name.lower())}"[:63] for number, name in enumerate(sets, start=1)
    }
