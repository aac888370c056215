"""What `attest ingest` spares, foresees and deletes on a real stack."""

import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.stack.local_stack import LocalStack

pytestmark = pytest.mark.stack

KILLS = int(os.environ.get("RUNNER_KILLS", "4"))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder whose name no other test uses, with Markdown, plain text and a PDF's worth of names."""
    folder = tmp_path / f"runner-{time.monotonic_ns()}"
    (folder / "green teas").mkdir(parents=True)
    (folder / "green teas" / "sencha 100%.md").write_bytes(b"\xef\xbb\xbf# Sencha\n\nSteep it for one minute.\n")
    (folder / "cups.txt").write_text("The cups stand on the second shelf.\n")
    (folder / "kettles.md").write_text("# Kettles\n\nThe kettle is descaled every Monday.\n")
    return folder


def told(stack: LocalStack, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run an ingest with --json and return what it said."""
    done = stack.attest("ingest", *arguments, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def outcomes(said: dict[str, Any]) -> dict[str, str]:
    """Return the outcomes by the last part of the address."""
    return {
        file["source_url"].rpartition("/")[2]: file["outcome"]
        for file in said["files"]
        if file["source_url"] is not None
    }


def stored(stack: LocalStack, beginning: str) -> dict[str, tuple[int, str]]:
    """Return version and time of the documents whose addresses begin so."""
    documents = json.loads(stack.attest("documents", "--json").stdout)["documents"]
    return {
        document["source_url"]: (document["version"], document["update_time"])
        for document in documents
        if document["source_url"].startswith(beginning)
    }


def test_unchanged_files_are_known_without_being_sent(stack: LocalStack, library: Path) -> None:
    """F81: also such with a byte order mark, and with names that an address cannot hold as they are."""
    told(stack, str(library))
    before = stored(stack, library.name)
    foreseen = told(stack, str(library), "--dry-run")
    again = told(stack, str(library))

    assert set(outcomes(foreseen).values()) == set(outcomes(again).values()) == {"UNCHANGED"}
    assert (again["unchanged"], again["tokens_embedded"], again["chunks_kept"]) == (3, 0, 3)
    assert stored(stack, library.name) == before


def test_a_dry_run_foresees_what_the_run_does(stack: LocalStack, library: Path) -> None:
    told(stack, str(library))
    (library / "cups.txt").write_text("The cups stand on the third shelf.\n")
    (library / "kettles.md").unlink()
    (library / "new.md").write_text("# New\n\nThe tray is new.\n")
    before = stored(stack, library.name)
    foreseen = told(stack, str(library), "--prune", "--dry-run")
    assert stored(stack, library.name) == before
    done = told(stack, str(library), "--prune", "--yes")

    assert outcomes(foreseen) == outcomes(done)
    assert outcomes(done) == {
        "cups.txt": "REPLACED",
        "kettles.md": "PRUNED",
        "new.md": "CREATED",
        "sencha%20100%25.md": "UNCHANGED",
    }


def test_pruning_touches_the_folder_alone_and_leaves_the_library_whole(stack: LocalStack, library: Path) -> None:
    beside = library.with_name(f"{library.name}-archive")
    beside.mkdir()
    (beside / "kettles.md").write_text("# Old kettles\n\nThey are kept in the attic.\n")
    told(stack, str(library), str(beside))
    (library / "kettles.md").unlink()
    (beside / "kettles.md").unlink()
    refused = stack.attest("ingest", str(library), "--prune")
    done = told(stack, str(library), "--prune", "--yes")

    assert (refused.returncode, done["pruned"], done["chunks_removed"]) == (2, 1, 1)
    assert "--yes" in refused.stderr
    left = {address.removeprefix(library.name) for address in stored(stack, library.name)}
    assert left == {"/cups.txt", "/green%20teas/sencha%20100%25.md", "-archive/kettles.md"}
    assert stack.attest("audit").returncode == 0


def test_an_emptied_folder_wipes_nothing_unless_that_is_meant(stack: LocalStack, library: Path) -> None:
    told(stack, str(library))
    before = stored(stack, library.name)
    moved = library.with_name("moved")
    library.rename(moved)
    missing = stack.attest("ingest", str(library), "--prune", "--yes")
    library.mkdir()
    empty = stack.attest("ingest", str(library), "--prune", "--yes")

    assert (missing.returncode, empty.returncode) == (2, 2)
    assert stored(stack, library.name) == before
    assert told(stack, str(library), "--prune-all", "--yes")["pruned"] == 3
    assert stored(stack, library.name) == {}


def test_documents_made_under_other_settings_are_sent_again(stack: LocalStack, library: Path) -> None:
    """A title that was given by hand is no reason to keep a document from its file."""
    address = f"{library.name}/kettles.md"
    content = (library / "kettles.md").read_text()
    stack.post("/api/documents", {"source_url": address, "content": content, "title": "By hand"})

    assert outcomes(told(stack, str(library / "kettles.md"))) == {"kettles.md": "REPLACED"}
    assert outcomes(told(stack, str(library / "kettles.md"))) == {"kettles.md": "UNCHANGED"}


def test_a_file_with_a_name_in_percent_signs_gets_a_title_that_reads(stack: LocalStack, library: Path) -> None:
    long = library / "house rules.txt"
    long.write_text("The door is closed at night.\n" + " \n" * (2**20))
    told(stack, str(library))
    documents = json.loads(stack.attest("documents", "--json").stdout)["documents"]

    titles = {document["source_url"]: document["title"] for document in documents}
    assert titles[f"{library.name}/house%20rules.txt"] == "house rules.txt"


def test_a_run_that_was_killed_leaves_whole_documents_and_the_next_one_ends_it(
    stack: LocalStack, library: Path
) -> None:
    """F83: at any moment, while files come and go; RUNNER_KILLS=20 tries more moments."""
    chance = random.Random(83)  # noqa: S311  # repeats by its seed
    for number in range(KILLS):
        for part in range(6):
            sections = (f"## Part {part}, row {row}\n\nShelf {number} holds {row} boxes.\n" for row in range(12))
            (library / f"{part}.md").write_text("\n".join(sections))
        (library / f"gone-{number}.md").write_text("It will be gone.\n")
        (library / f"gone-{number - 1}.md").unlink(missing_ok=True)
        running = stack.begin("ingest", str(library), "--prune", "--yes", "--json")
        try:
            running.wait(timeout=chance.uniform(0.3, 3.0))
        except subprocess.TimeoutExpired:
            running.kill()
        running.communicate()
        assert stack.attest("audit").returncode == 0
    last = told(stack, str(library), "--prune", "--yes")
    again = told(stack, str(library), "--prune")

    files = {f"{library.name}/{part}.md" for part in range(6)} | {f"{library.name}/gone-{KILLS - 1}.md"}
    others = {"/cups.txt", "/kettles.md", "/green%20teas/sencha%20100%25.md"}
    assert set(stored(stack, library.name)) == files | {library.name + name for name in others}
    assert (last["failed"], again["unchanged"]) == (0, len(files) + len(others))
