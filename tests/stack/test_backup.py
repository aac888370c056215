"""A backup of a running stack holds whole documents, and what is restored elsewhere answers the same."""

import threading
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from services.cli.stack.cluster import Cluster
from services.cli.stack.secrets import load_or_create
from services.common.postgres.settings import DATABASE
from tests.stack.local_stack import LocalStack, temporary_home

pytestmark = pytest.mark.stack

QUESTION = {"question": "How many days of annual leave are there?"}
# Whole documents, owners and rights of every relation and routine, policies, settings of roles and of the database.
LIKENESS = (
    """SELECT document_id, version, chunk_count = (SELECT count(*) FROM attest.rag_docs c
         WHERE (c.tenant, c.document_id) = (d.tenant, d.document_id)) AS whole
       FROM attest.documents d WHERE source_url = 'people/leave.md'""",
    """SELECT relnamespace::regnamespace::text, relname, relowner::regrole::text, relrowsecurity, relforcerowsecurity,
         relacl::text FROM pg_class WHERE relnamespace::regnamespace::text = 'attest' ORDER BY 1, 2""",
    """SELECT oid::regprocedure::text, proowner::regrole::text, prosecdef, coalesce(proacl::text, ''), proconfig::text
       FROM pg_proc WHERE pronamespace::regnamespace::text = 'attest' OR proname LIKE 'lo\\_%' ORDER BY 1""",
    "SELECT tablename, policyname, roles::text, qual, with_check FROM pg_policies ORDER BY 1, 2",
    "SELECT setrole::regrole::text, setconfig::text FROM pg_db_role_setting ORDER BY 1, 2",
    "SELECT datacl::text FROM pg_database WHERE datname = 'attest'",
    "SELECT defaclrole::regrole::text, defaclobjtype, defaclacl::text FROM pg_default_acl ORDER BY 1, 2",
    "SELECT nspname, nspowner::regrole::text, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1",
)


@pytest.fixture(scope="module")
def elsewhere(stack: LocalStack) -> Iterator[tuple[LocalStack, Path]]:
    """Another home that was filled from a backup of `stack`, made while documents were written; and the backup."""
    with temporary_home() as home:
        file = home.with_name("backup")
        stop = threading.Event()
        writer = threading.Thread(target=_write, args=(stack, stop))
        writer.start()
        try:
            made = stack.attest("backup", str(file))
        finally:
            stop.set()
            writer.join()
        assert made.returncode == 0, made.stderr
        other = LocalStack.in_folder(home, RATE_LIMIT_PER_MINUTE="100000")
        restored = other.attest("restore", str(file))
        assert restored.returncode == 0, restored.stderr
        other.up()
        yield other, file
        other.attest("down")


def _write(stack: LocalStack, stop: threading.Event) -> None:
    version = 0
    while not stop.is_set():
        version += 1
        body = "\n\n".join(f"# Room {room}\n\nRoom {room} holds {version} chairs." for room in range(5))
        stack.post("/api/documents", {"source_url": "moving.md", "content": body})


async def _likeness(stack: LocalStack) -> list[list[tuple[object, ...]]]:
    way = Cluster(stack.home, stack.ports["PG"], load_or_create(stack.home)).superuser
    connection = await asyncpg.connect(
        host=way.host, port=way.port, user=way.user, password=way.password, database=DATABASE
    )
    try:
        return [[tuple(row) for row in await connection.fetch(query)] for query in LIKENESS]
    finally:
        await connection.close()


def test_the_same_question_gets_the_same_answer_from_the_same_passages(
    stack: LocalStack, elsewhere: tuple[LocalStack, Path]
) -> None:
    here = stack.post("/api/answer", QUESTION).body
    there = elsewhere[0].post("/api/answer", QUESTION).body

    assert (here["outcome"], here["record"]["q_hash"]) == ("ANSWERED", there["record"]["q_hash"])
    first = [source for source in here["sources"] if source["cited"]]
    assert first == [source for source in there["sources"] if source["cited"]]
    assert here["answer"] == there["answer"]


async def test_documents_rights_and_settings_are_those_of_the_original(
    stack: LocalStack, elsewhere: tuple[LocalStack, Path]
) -> None:
    assert await _likeness(stack) == await _likeness(elsewhere[0])


def test_the_keys_that_the_data_are_bound_to_are_those_of_the_original_and_the_passwords_are_not(
    stack: LocalStack, elsewhere: tuple[LocalStack, Path]
) -> None:
    here, there = load_or_create(stack.home), load_or_create(elsewhere[0].home)

    assert (there.content_key, there.question_salt) == (here.content_key, here.question_salt)
    assert there.owner_password != here.owner_password


def test_a_document_that_was_being_written_is_whole(elsewhere: tuple[LocalStack, Path]) -> None:
    passages = elsewhere[0].post("/api/search", {"query": "Room holds chairs", "top_k": 50}).body["passages"]
    rooms = [passage["content"] for passage in passages if passage["source_url"] == "moving.md"]
    numbers = {word for text in rooms for word in text.split() if word.isdigit()}

    assert rooms
    assert sum(text.count("chairs") for text in rooms) == 5
    assert len(numbers - set("01234")) <= 1, "chairs of two versions"


def test_a_backup_is_its_owners_and_replaces_nothing(stack: LocalStack, elsewhere: tuple[LocalStack, Path]) -> None:
    file = elsewhere[1]
    before = file.read_bytes()
    again = stack.attest("backup", str(file))

    assert file.stat().st_mode & 0o777 == 0o600
    assert (again.returncode, file.read_bytes() == before) == (1, True)
    assert "is there already" in again.stderr


def test_a_running_or_a_filled_home_is_not_restored_into(stack: LocalStack, elsewhere: tuple[LocalStack, Path]) -> None:
    other, file = elsewhere
    running = other.attest("restore", "--force", str(file))
    other.attest("down")
    filled = other.attest("restore", str(file))
    file.with_name("cut").write_bytes(file.read_bytes()[:-200])
    cut = other.attest("restore", "--force", str(file.with_name("cut")))
    forced = other.attest("restore", "--force", str(file))
    other.up()

    assert "stop it first: " in running.stderr
    assert "attest down" in running.stderr
    assert "holds data" in filled.stderr
    assert "cut short" in cut.stderr
    assert "data.before-restore-" in forced.stdout
    assert other.post("/api/answer", QUESTION).body["outcome"] == "ANSWERED"


def test_a_stopped_stack_is_not_backed_up(own_stack: LocalStack) -> None:
    done = own_stack.attest("backup", str(own_stack.home.with_name("backup")))

    assert done.returncode == 1
    assert "is not running" in done.stderr


def test_a_wrong_port_leaves_an_empty_home_behind(elsewhere: tuple[LocalStack, Path], own_stack: LocalStack) -> None:
    """A restore that fails has undone what it began."""
    held = LocalStack(own_stack.home, {**own_stack.ports, "PG": elsewhere[0].ports["PG"]}, {})
    failed = held.attest("restore", str(elsewhere[1]))
    after = own_stack.attest("restore", str(elsewhere[1]))

    assert "is taken" in failed.stderr
    assert after.returncode == 0, after.stderr
