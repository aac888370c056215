"""The commands that use a stack, as a person and as a script run them."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.stack.local_stack import BIN, COMMAND_SECONDS, LocalStack

pytestmark = pytest.mark.stack

KETTLE = "# Kettles\n\nThe kettle of the third floor is descaled every Monday.\n"
QUESTION = "When is the kettle of the third floor descaled?"
MANY = 40
PARAGRAPHS = 8


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder of two documents whose name no other test uses, so that its addresses are its own."""
    folder = tmp_path / f"library-{time.monotonic_ns()}"
    (folder / "kitchen").mkdir(parents=True)
    (folder / "kitchen" / "kettles.md").write_text(KETTLE)
    (folder / "lamps.txt").write_text("The lamps of the cellar are changed in November.\n")
    (folder / "plan.dwg").write_bytes(b"\0")
    return folder


def told(stack: LocalStack, *arguments: str) -> dict[str, Any]:
    """Run a command with --json and return what it said."""
    done = stack.attest(*arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def counts(report: dict[str, Any]) -> tuple[int, ...]:
    return tuple(report[name] for name in ("created", "replaced", "unchanged", "failed", "skipped"))


def test_a_folder_is_ingested_once_and_only_what_changed_again(stack: LocalStack, library: Path) -> None:
    first = told(stack, "ingest", str(library))
    second = told(stack, "ingest", str(library))
    (library / "lamps.txt").write_text("The lamps of the cellar are changed in March.\n")
    third = told(stack, "ingest", f"{library}/**/*.*")

    assert [counts(report) for report in (first, second, third)] == [
        (2, 0, 0, 0, 1),
        (0, 0, 2, 0, 1),
        (0, 1, 1, 0, 1),
    ]
    assert (first["chunks_added"], second["tokens_embedded"]) == (2, 0)
    addresses = [file["source_url"] for file in first["files"] if file["outcome"] == "CREATED"]
    assert addresses == [f"{library.name}/kitchen/kettles.md", f"{library.name}/lamps.txt"]


def test_ingest_sums_up_for_a_person_in_eighty_columns_without_colours(stack: LocalStack, library: Path) -> None:
    done = stack.attest("ingest", str(library), "-v")

    assert done.returncode == 0, done.stderr
    table = [line.rsplit(maxsplit=1) for line in done.stdout.splitlines()[:5]]
    assert table[:3] == [["created", "2"], ["skipped", "1"], ["chunks added", "2"]]
    assert [name for name, _ in table[3:]] == ["tokens embedded", "seconds"]
    assert "plan.dwg" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_file_that_fails_is_named_and_the_others_are_ingested(stack: LocalStack, library: Path) -> None:
    (library / "empty.md").write_text("   \n")
    done = stack.attest("ingest", str(library))

    assert done.returncode == 1
    assert "empty.md" in done.stdout
    assert "holds no text" in done.stdout
    assert done.stdout.split()[:2] == ["created", "2"]


def test_an_answer_for_a_person_has_its_sources(stack: LocalStack, library: Path) -> None:
    told(stack, "ingest", str(library))
    done = stack.attest("ask", QUESTION, "--top-k", "20")

    assert done.returncode == 0, done.stderr
    assert "descaled every Monday. [" in " ".join(done.stdout.split())
    assert f"{library.name}/kitchen/kettles.md" in "".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_an_answer_for_a_machine_is_the_service_s_own(stack: LocalStack, library: Path) -> None:
    told(stack, "ingest", str(library))
    said = told(stack, "ask", QUESTION)
    served = stack.post("/api/answer", {"question": QUESTION}).body

    assert said.keys() == served.keys()
    assert (said["outcome"], said["answer"]) == (served["outcome"], served["answer"])


def test_no_evidence_is_an_answer_and_no_failure(stack: LocalStack) -> None:
    done = stack.attest("ask", "Who composed the Moonlight Sonata?")

    assert (done.returncode, done.stdout.split(".")[0]) == (0, "No evidence")


def test_a_question_on_stdin_does_not_stand_among_the_arguments(stack: LocalStack, library: Path) -> None:
    told(stack, "ingest", str(library))
    done = subprocess.run(
        [BIN / "attest", "ask", "-", "--json"],
        input=QUESTION,
        env=stack.environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )

    assert (done.returncode, json.loads(done.stdout)["record"]["q_len"]) == (0, len(QUESTION))


def test_passages_are_found(stack: LocalStack, library: Path) -> None:
    told(stack, "ingest", str(library))

    assert "kettle" in told(stack, "search", QUESTION, "--top-k", "1")["passages"][0]["content"].lower()
    assert "kettles.md" in "".join(stack.attest("search", QUESTION, "--top-k", "20").stdout.split())


def test_a_document_is_listed_shown_and_deleted(stack: LocalStack, library: Path) -> None:
    report = told(stack, "ingest", str(library))
    made = report["files"][0]
    listed = {document["document_id"]: document for document in told(stack, "documents")["documents"]}
    shown = told(stack, "documents", "show", made["document_id"])
    receipt = told(stack, "documents", "delete", made["document_id"], "--yes")["deleted"][0]

    assert listed[made["document_id"]] == shown
    assert shown["source_url"] == made["source_url"]
    assert (receipt["document"], receipt["chunks_deleted"]) == (shown, 1)
    assert stack.attest("documents", "show", made["document_id"]).returncode == 1
    assert stack.attest("documents", "delete", made["document_id"], "--yes").returncode == 1


def test_documents_are_listed_for_a_person(stack: LocalStack, library: Path) -> None:
    told(stack, "ingest", str(library))
    done = stack.attest("documents")

    assert done.returncode == 0, done.stderr
    assert f"{library.name}/kitchen/kettles.md" in "".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    "call", [("ingest", "nowhere"), ("ingest",), ("ask",), ("ask", "  "), ("search", "x", "--top-k", "0")]
)
def test_a_wrong_call_exits_with_two(stack: LocalStack, call: tuple[str, ...]) -> None:
    assert stack.attest(*call).returncode == 2


@pytest.mark.parametrize("call", [("ingest", "."), ("ask", "x"), ("search", "x"), ("documents",)])
def test_a_stack_that_is_not_up_exits_with_three(tmp_path: Path, call: tuple[str, ...]) -> None:
    done = LocalStack.in_folder(tmp_path / "home").attest(*call)

    assert done.returncode == 3
    assert "attest up" in done.stderr


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A folder of documents of many chunks each."""
    folder = tmp_path / f"many-{time.monotonic_ns()}"
    folder.mkdir()
    for number in range(MANY):
        paragraphs = (f"## Part {part}\n\nShelf {number} holds {part} boxes. " * 3 for part in range(PARAGRAPHS))
        (folder / f"{number:02}.md").write_text("\n\n".join(paragraphs))
    return folder


@pytest.fixture
def ingesting(stack: LocalStack, many: Path) -> Iterator[subprocess.Popen[str]]:
    """An ingest of many documents that has stored some of them."""
    process = subprocess.Popen(
        [BIN / "attest", "ingest", str(many), "--json"],
        env={**os.environ, **stack.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + COMMAND_SECONDS
    # Asked without a command: one takes seconds to start on a busy machine, in which all would be stored.
    while f"{many.name}/" not in httpx2.get(f"{stack.url}/api/documents", timeout=60, trust_env=False).text:
        assert time.monotonic() < deadline
        assert process.poll() is None
    yield process
    process.kill()
    process.communicate()


def stored(stack: LocalStack, folder: Path) -> list[dict[str, Any]]:
    """Return the documents of a folder that are in the library."""
    listed = told(stack, "documents")["documents"]
    return [document for document in listed if document["source_url"].startswith(f"{folder.name}/")]


def test_ctrl_c_leaves_whole_documents_and_the_same_command_goes_on(
    stack: LocalStack, many: Path, ingesting: subprocess.Popen[str]
) -> None:
    ingesting.send_signal(signal.SIGINT)
    out, err = ingesting.communicate(timeout=COMMAND_SECONDS)
    stopped = json.loads(out)
    after = stored(stack, many)
    again = told(stack, "ingest", str(many))
    chunk_counts = {document["source_url"]: document["chunk_count"] for document in stored(stack, many)}

    assert ingesting.returncode == 130
    assert "run the same command again" in err
    assert stopped["interrupted"] is True
    assert 0 < stopped["created"] < MANY
    assert (again["failed"], again["replaced"]) == (0, 0)
    assert again["created"] + again["unchanged"] == len(chunk_counts) == MANY
    assert {document["source_url"]: document["chunk_count"] for document in after}.items() <= chunk_counts.items()
