"""Runs of `attest ingest` that compare first: unchanged files, --dry-run and --prune."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from services.cli.api import ApiError
from services.cli.batch import Done, Outcome
from services.cli.collect import Collection
from services.cli.report import Report, print_report
from tests.unit.cli.conftest import Run
from tests.unit.cli.gateway import ScriptedGateway

LIST = "GET /api/documents"
INGEST = "POST /api/documents"


def document(name: str, content: bytes = b"", **changes: Any) -> dict[str, Any]:
    base = {
        "document_id": f"id-{name}",
        "source_url": f"docs/{name}",
        "title": name,
        "version": 1,
        "media_type": "text/markdown",
        "content_sha256": hashlib.sha256(content).hexdigest(),
        "chunk_count": 5,
        "up_to_date": True,
    }
    return {**base, **changes}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with an unchanged file, a changed one, a new one, and one that is no document."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("same.md", "changed.md", "new.md", "plan.dwg"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def stored(gateway: ScriptedGateway) -> list[dict[str, Any]]:
    """What the library holds: beside two of the files a document whose file is gone."""
    documents = [document("same.md", b"same.md"), document("changed.md", b"before"), document("gone.md")]
    gateway.will(LIST, 200, {"documents": documents, "next_page_token": ""})
    gateway.will(INGEST, 200, {"outcome": "CREATED", "document": {}, "chunks_added": 2, "tokens_embedded": 30})
    gateway.will("DELETE /api/documents/id-gone.md", 200, {"document": document("gone.md"), "chunks_deleted": 5})
    return documents


def sent(gateway: ScriptedGateway) -> list[str]:
    return sorted(asked.json["source_url"] for asked in gateway.asked if asked.method == "POST")


def deletions(gateway: ScriptedGateway) -> list[str]:
    return [asked.path for asked in gateway.asked if asked.method == "DELETE"]


def outcomes(told: dict[str, Any]) -> dict[str, str]:
    return {file["source_url"]: file["outcome"] for file in told["files"] if file["source_url"]}


@pytest.mark.usefixtures("stored")
def test_unchanged_files_are_not_sent(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    """F81: unchanged bytes are neither embedded nor paid for again."""
    told = json.loads(run("ingest", str(library), "--json").stdout)

    assert sent(gateway) == ["docs/changed.md", "docs/new.md"]
    assert outcomes(told)["docs/same.md"] == "UNCHANGED"
    assert (told["unchanged"], told["chunks_kept"], told["chunks_added"]) == (1, 5, 4)
    same = next(file for file in told["files"] if file["source_url"] == "docs/same.md")
    assert (same["document_id"], same["version"], same["chunks_kept"]) == ("id-same.md", 1, 5)


@pytest.mark.usefixtures("stored")
def test_without_prune_nothing_is_deleted(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    assert run("ingest", str(library)).exit_code == 0
    assert deletions(gateway) == []


@pytest.mark.usefixtures("stored")
def test_pages_without_text_are_summed_up(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    """F85: what cannot be searched is no silent success."""
    (library / "scan.pdf").write_bytes(b"%PDF")
    result = {"outcome": "CREATED", "document": {}, "pages_with_text": 3, "pages_without_text": 2}
    gateway.will("POST /api/documents/upload", 200, json.dumps({"result": result}).encode())
    shown = run("ingest", str(library)).stdout
    told = json.loads(run("ingest", str(library), "--json").stdout)

    assert [line.split() for line in shown.splitlines() if "pages" in line] == [
        ["pages", "with", "text", "3"],
        ["pages", "without", "text", "2"],
    ]
    assert (told["pages_with_text"], told["pages_without_text"]) == (3, 2)
    pages = {file["source_url"]: file["pages_without_text"] for file in told["files"] if file["source_url"]}
    assert (pages["docs/scan.pdf"], pages["docs/new.md"]) == (2, None)


# --- --dry-run ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("stored")
def test_a_dry_run_tells_all_and_sends_nothing(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    (library / "blank.txt").write_text(" ")
    result = run("ingest", str(library), "--dry-run", "--prune", "--json")
    told = json.loads(result.stdout)

    assert {asked.method for asked in gateway.asked} == {"GET"}
    assert all(asked.body == b"" for asked in gateway.asked)
    assert (told["dry_run"], told["tokens_embedded"]) == (True, None)
    assert outcomes(told) == {
        "docs/blank.txt": "FAILED",
        "docs/changed.md": "REPLACED",
        "docs/gone.md": "PRUNED",
        "docs/new.md": "CREATED",
        "docs/same.md": "UNCHANGED",
    }
    assert result.exit_code == 1


@pytest.mark.usefixtures("stored")
def test_a_dry_run_for_a_person_names_what_would_change_and_what_is_no_document(run: Run, library: Path) -> None:
    result = run("ingest", str(library), "--dry-run", "--prune")

    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines() if "seconds" not in line][:8] == [
        ["would", "be", "created", "1"],
        ["would", "be", "replaced", "1"],
        ["unchanged", "1"],
        ["would", "be", "pruned", "1"],
        ["skipped", "1"],
        ["create", "docs/new.md"],
        ["replace", "docs/changed.md"],
        ["prune", "docs/gone.md"],
    ]
    assert "plan.dwg:notoneof.md,.markdown,.txt,.pdf" in "".join(result.stdout.split())


@pytest.mark.usefixtures("stored")
def test_a_dry_run_says_when_a_folder_would_lose_everything_and_is_no_failure(
    run: Run, gateway: ScriptedGateway, library: Path
) -> None:
    for file in library.iterdir():
        file.unlink()
    result = run("ingest", str(library), "--dry-run", "--prune", "--json")

    assert (result.exit_code, json.loads(result.stdout)["pruned"]) == (0, 3)
    assert "all 3 documents of" in result.stderr


@pytest.mark.usefixtures("stored")
def test_a_dry_run_of_a_folder_alone_prunes_nothing(run: Run, library: Path) -> None:
    told = json.loads(run("ingest", str(library), "--dry-run", "--json").stdout)

    assert told["pruned"] == 0


# --- --prune -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("stored")
def test_what_lost_its_file_is_deleted_after_the_files_were_sent(
    run: Run, gateway: ScriptedGateway, library: Path
) -> None:
    result = run("ingest", str(library), "--prune", "--yes", "--json")
    told = json.loads(result.stdout)

    assert result.exit_code == 0
    assert [asked.method for asked in gateway.asked] == ["GET", "POST", "POST", "DELETE"]
    assert (told["pruned"], told["chunks_removed"]) == (1, 5)
    assert outcomes(told)["docs/gone.md"] == "PRUNED"


@pytest.mark.usefixtures("stored")
def test_without_a_terminal_yes_is_needed_and_nothing_at_all_is_done(
    run: Run, gateway: ScriptedGateway, library: Path
) -> None:
    result = run("ingest", str(library), "--prune")

    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert "docs/gone.md" in result.stderr
    assert "1 document with 5 chunks has lost its file." in result.stderr
    assert {asked.method for asked in gateway.asked} == {"GET"}


@pytest.mark.usefixtures("stored")
def test_where_nothing_is_gone_nobody_has_to_say_yes(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    (library / "gone.md").write_text("Here.")

    assert run("ingest", str(library), "--prune").exit_code == 0
    assert deletions(gateway) == []


@pytest.mark.usefixtures("stored")
def test_a_folder_that_lost_everything_is_refused_unless_that_is_meant(
    run: Run, gateway: ScriptedGateway, library: Path
) -> None:
    """Perhaps nothing is mounted there, and a timer that says --yes each night knows nothing of it."""
    for file in library.iterdir():
        file.unlink()
    for said in (("--prune",), ("--prune", "--yes")):
        refused = run("ingest", str(library), *said)
        assert (refused.exit_code, deletions(gateway)) == (2, [])
        assert "all 3 documents of" in refused.stderr
        assert "--prune-all" in refused.stderr

    for name in ("same.md", "changed.md"):
        gateway.will(f"DELETE /api/documents/id-{name}", 200, {"document": document(name), "chunks_deleted": 5})
    meant = run("ingest", str(library), "--prune-all", "--yes")
    assert (meant.exit_code, len(deletions(gateway))) == (0, 3)
    assert "all 3 documents of" in meant.stderr


@pytest.mark.usefixtures("stored")
def test_a_folder_that_is_not_there_is_a_wrong_call(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    result = run("ingest", str(library.parent / "absent"), "--prune", "--yes")

    assert (result.exit_code, gateway.asked) == (2, [])


@pytest.mark.parametrize("path", ["new.md", "*.md"])
def test_prune_needs_a_folder(run: Run, gateway: ScriptedGateway, library: Path, path: str) -> None:
    result = run("ingest", f"{library}/{path}", "--prune", "--yes")

    assert (result.exit_code, gateway.asked) == (2, [])
    assert "--prune needs a folder" in result.stderr


@pytest.mark.usefixtures("stored")
def test_a_service_that_stays_away_deletes_nothing(
    run: Run, gateway: ScriptedGateway, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.cli.batch.WAIT_SECONDS", 0.0)
    gateway.answers.pop(INGEST)
    gateway.refuse(INGEST, 503, "UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
    result = run("ingest", str(library), "--prune", "--yes", "--json")

    assert (result.exit_code, deletions(gateway)) == (1, [])
    assert json.loads(result.stdout)["not_pruned"] == 1
    assert "Run the same command again to go on." in result.stderr


@pytest.mark.usefixtures("stored")
def test_a_deletion_that_fails_is_named_and_the_exit_code_is_one(
    run: Run, gateway: ScriptedGateway, library: Path
) -> None:
    gateway.answers.pop("DELETE /api/documents/id-gone.md")
    gateway.refuse("DELETE /api/documents/id-gone.md", 500, "INTERNAL", "INTERNAL")
    result = run("ingest", str(library), "--prune", "--yes")

    assert result.exit_code == 1
    assert "gone.md:Refused:INTERNAL.(INTERNAL)" in "".join(result.stdout.split())


# --- what ends it ------------------------------------------------------------------------------------------------


def test_a_lane_that_is_not_known_is_said_once(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    gateway.refuse(LIST, 404, "NOT_FOUND", "LANE_UNKNOWN")
    result = run("ingest", str(library), "--lane", "nowhere")

    assert (result.exit_code, len(gateway.asked)) == (1, 1)
    assert result.stderr.strip() == "attest: Refused: LANE_UNKNOWN. (LANE_UNKNOWN)"


def test_files_are_told_in_the_order_of_their_addresses_whoever_was_faster(capsys: pytest.CaptureFixture[str]) -> None:
    refused = ApiError(400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY", "No text.")
    done = [Done(Path(f"/docs/{name}"), f"docs/{name}", Outcome.FAILED, error=refused) for name in ("b", "c", "a")]
    gone = Done(Path("/docs/bb"), "docs/bb", Outcome.PRUNED)
    report = Report(Collection(), done, 1.0, pruned=[gone])
    print_report(report, verbose=False)

    assert [file["source_url"] for file in report.as_json()["files"]] == ["docs/a", "docs/b", "docs/bb", "docs/c"]
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in shown if line.endswith("(DOCUMENT_EMPTY)")] == [
        "/docs/a:",
        "/docs/b:",
        "/docs/c:",
    ]


def test_of_many_warnings_and_failures_fifty_are_written_out_and_json_has_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused = ApiError(400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY", "No text.")
    warned = [Done(Path(f"/{n}.md"), f"{n}.md", Outcome.CREATED, {"warnings": ["odd front matter"]}) for n in range(60)]
    failed = [Done(Path(f"/{n}.txt"), f"{n}.txt", Outcome.FAILED, error=refused) for n in range(70)]
    report = Report(Collection(), [*warned, *failed], 1.0)
    print_report(report, verbose=False)

    shown = capsys.readouterr().out.splitlines()
    assert sum("odd front matter" in line for line in shown) == sum("No text." in line for line in shown) == 50
    assert [line.split() for line in shown if "--json" in line] == [
        ["failed", "20", "more;", "--json", "names", "all."],
        ["warning", "10", "more;", "--json", "names", "all."],
    ]
    assert len(report.as_json()["files"]) == 130


def test_the_cost_is_summed_and_printed_where_there_is_one(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    gateway.will(LIST, 200, {"documents": [], "next_page_token": ""})
    made = {"outcome": "CREATED", "document": {}, "chunks_added": 1, "tokens_embedded": 30, "estimated_cost_usd": 0.25}
    gateway.will(INGEST, 200, made)
    files = len(list(library.glob("*.md")))

    assert json.loads(run("ingest", str(library), "--json").stdout)["estimated_cost_usd"] == 0.25 * files
    assert f"US dollars, estimated  {0.25 * files:.4f}" in run("ingest", str(library)).stdout
