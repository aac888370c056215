"""What the commands print and exit with, against a scripted gateway."""

import json
from pathlib import Path
from typing import Any

import pytest

from services.cli.ask import OUTCOMES
from tests.unit.cli.conftest import Run
from tests.unit.cli.gateway import ScriptedGateway

ANSWER = "POST /api/answer"
SEARCH = "POST /api/search"
INGEST = "POST /api/documents"
UPLOAD = "POST /api/documents/upload"
LIST = "GET /api/documents"
D1, D2 = "d1" * 16, "d2" * 16
EVIL = "\x1b]0;owned\x07[bold]not markup[/bold]"


def passage(**changes: Any) -> dict[str, Any]:
    base = {
        "n": 1,
        "source": "Scale guide",
        "source_url": "docs/guide.pdf",
        "similarity": 0.7,
        "cited": True,
        "page": 3,
        "heading_path": ["Scale guide", "Care"],
        "content": "Wipe the pan.",
    }
    return {**base, **changes}


def document(number: int = 1, **changes: Any) -> dict[str, Any]:
    base = {
        "document_id": f"d{number}" * 16,
        "lane": "default",
        "source_url": f"docs/{number}.md",
        "title": f"Document {number}",
        "version": 2,
        "chunk_count": 7,
        "metadata": {"owner": "People"},
    }
    return {**base, **changes}


def created(**changes: Any) -> dict[str, Any]:
    counts = {"chunks_added": 3, "chunks_kept": 1, "chunks_removed": 2, "tokens_embedded": 90}
    return {"outcome": "CREATED", "document": document(), **counts, "warnings": [], **changes}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for name in ("a.md", "b.txt", "c.docx"):
        (tmp_path / name).write_text(name)
    return tmp_path


# --- ask ---------------------------------------------------------------------------------------------------------


def test_ask_prints_outcome_answer_and_numbered_sources(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(ANSWER, 200, {"outcome": "ANSWERED", "answer": "Wipe the pan. [1]", "sources": [passage()]})
    result = run("ask", "How?")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        OUTCOMES["ANSWERED"],
        "",
        "Wipe the pan. [1]",
        "",
        "Sources (* cited)",
        "*[1] 0.700  Scale guide, page 3: Care",
        "            docs/guide.pdf",
    ]


def test_ask_hands_its_options_on_and_leaves_the_defaults_to_the_service(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(ANSWER, 200, {"outcome": "NO_EVIDENCE", "answer": "Nothing.", "sources": []})
    run("ask", "How?")
    run("ask", "How?", "--lane", "hr", "--lane", "it", "--top-k", "3", "--min-similarity", "0.5")

    assert [asked.json for asked in gateway.asked] == [
        {"question": "How?"},
        {"question": "How?", "lanes": ["hr", "it"], "top_k": 3, "min_similarity": 0.5},
    ]


@pytest.mark.parametrize("outcome", ["NO_EVIDENCE", "LOW_SUPPORT", "BLOCKED"])
def test_an_outcome_without_an_answer_is_said_in_plain_words_and_is_no_failure(
    run: Run, gateway: ScriptedGateway, outcome: str
) -> None:
    gateway.will(ANSWER, 200, {"outcome": outcome, "answer": "A fixed sentence.", "sources": []})
    result = run("ask", "How?")

    assert result.exit_code == 0
    assert result.stdout.strip() == OUTCOMES[outcome]


def test_a_question_on_stdin_is_read_whole(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(ANSWER, 200, {"outcome": "NO_EVIDENCE", "answer": "", "sources": []})
    run("ask", "-", stdin="How often\nis the pan wiped?\n")

    assert gateway.asked[0].json == {"question": "How often\nis the pan wiped?"}


def test_help_says_why_stdin(run: Run) -> None:
    assert "history" in run("ask", "--help").stdout


def test_json_is_the_whole_answer(run: Run, gateway: ScriptedGateway) -> None:
    reply = {"outcome": "ANSWERED", "answer": EVIL, "sources": [passage(content=EVIL)], "record": {"q_len": 4}}
    gateway.will(ANSWER, 200, reply)
    result = run("ask", "How?", "--json")

    assert json.loads(result.stdout) == reply
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [(400, "INVALID_ARGUMENT", 2), (429, "RESOURCE_EXHAUSTED", 1), (503, "UNAVAILABLE", 1)],
)
def test_a_refused_question_has_an_exit_code_and_goes_to_stderr(
    run: Run, gateway: ScriptedGateway, status: int, code: str, exit_code: int
) -> None:
    gateway.refuse(ANSWER, status, code, "A_REASON", retry_after="9")
    result = run("ask", "How?")

    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert result.stderr == "attest: Refused: A_REASON. Try again in 9 s. (A_REASON)\n"


# --- search ------------------------------------------------------------------------------------------------------


def test_search_prints_a_table_of_passages(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(SEARCH, 200, {"passages": [passage(), passage(source="Other", page=None, heading_path=[])]})
    lines = [line.rstrip() for line in run("search", "pan").stdout.splitlines()]

    assert lines == [
        "#  similarity  passage",
        "1       0.700  Scale guide, page 3: Care",
        "               docs/guide.pdf",
        "               Wipe the pan.",
        "2       0.700  Other",
        "               docs/guide.pdf",
        "               Wipe the pan.",
    ]


def test_finding_nothing_is_said(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(SEARCH, 200, {"passages": []})
    result = run("search", "pan")

    assert (result.exit_code, result.stdout[:7]) == (0, "Nothing")


# --- hostile text ------------------------------------------------------------------------------------------------


def test_no_text_of_a_document_reaches_the_terminal_raw(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    hostile = passage(source=EVIL, source_url=EVIL, content=EVIL, heading_path=[EVIL])
    gateway.will(ANSWER, 200, {"outcome": "ANSWERED", "answer": EVIL, "sources": [hostile]})
    gateway.will(SEARCH, 200, {"passages": [hostile]})
    listed = document(title=EVIL, source_url=EVIL, lane=EVIL, document_id=EVIL, metadata={EVIL: EVIL})
    gateway.will(LIST, 200, {"documents": [listed], "next_page_token": ""})
    gateway.will(f"GET /api/documents/{D1}", 200, {"document": listed})
    gateway.will(f"DELETE /api/documents/{D1}", 200, {"document": listed, "chunks_deleted": 1, "vectors_deleted": 1})
    gateway.will(INGEST, 200, created(warnings=[EVIL]))
    calls = (
        ("ask", "How?"),
        ("search", "How?"),
        ("documents",),
        ("documents", "show", D1),
        ("documents", "delete", D1, "--yes"),
        ("ingest", str(library)),
    )
    for call in calls:
        result = run(*call)
        assert result.exit_code == 0
        assert "\x1b" not in result.output
        assert "\x07" not in result.output
        assert "[/bold]" in "".join(result.output.split())


def test_a_hostile_file_name_does_not_reach_the_terminal_raw(
    run: Run, gateway: ScriptedGateway, tmp_path: Path
) -> None:
    (tmp_path / "\x1b[2J.md").write_text("x")
    gateway.refuse(INGEST, 400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY")

    assert "\x1b" not in run("ingest", str(tmp_path), "-v").output


# --- documents ---------------------------------------------------------------------------------------------------


def test_all_pages_of_the_list_are_asked_for(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(LIST, 200, {"documents": [document(1)], "next_page_token": "t2"})
    gateway.will(LIST, 200, {"documents": [document(2)], "next_page_token": ""})
    listed = json.loads(run("documents", "--json", "--lane", "hr").stdout)

    assert [entry["document_id"] for entry in listed["documents"]] == [D1, D2]
    assert [asked.params for asked in gateway.asked] == [
        {"lane": "hr", "page_size": "1000"},
        {"lane": "hr", "page_size": "1000", "page_token": "t2"},
    ]


def test_the_list_is_a_table_with_id_title_and_address(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(LIST, 200, {"documents": [document(1)], "next_page_token": ""})

    for call in (("documents",), ("documents", "list")):
        assert run(*call).stdout.split()[7:] == ["Document", "1", "default", "2", "7", "docs/1.md", D1]


def test_a_document_is_shown_field_by_field(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will(f"GET /api/documents/{D1}", 200, {"document": document(1)})

    assert "source url      docs/1.md" in run("documents", "show", D1).stdout
    assert json.loads(run("documents", "show", D1, "--json").stdout) == document(1)


@pytest.mark.parametrize("call", [("show", "docs/1.md"), ("delete", "docs/1.md", "--yes")])
def test_a_document_is_meant_by_its_address_too(run: Run, gateway: ScriptedGateway, call: tuple[str, ...]) -> None:
    longer = document(2, source_url="docs/1.md.old")
    gateway.will(LIST, 200, {"documents": [longer, document(1)], "next_page_token": ""})
    gateway.will(f"GET /api/documents/{D1}", 200, {"document": document(1)})
    receipt = {"document": document(1), "chunks_deleted": 7, "vectors_deleted": 7}
    gateway.will(f"DELETE /api/documents/{D1}", 200, receipt)

    assert run("documents", *call).exit_code == 0
    assert [asked.path for asked in gateway.asked] == ["/api/documents", f"/api/documents/{D1}"]
    assert gateway.asked[0].params["source_url_prefix"] == "docs/1.md"


def test_an_address_in_two_lanes_means_neither(run: Run, gateway: ScriptedGateway) -> None:
    twin = document(2, source_url="docs/1.md", lane="hr")
    gateway.will(LIST, 200, {"documents": [document(1), twin], "next_page_token": ""})
    result = run("documents", "delete", "docs/1.md", "--yes")

    assert result.exit_code == 2
    assert "several lanes (default, hr); name the one you mean by its id" in result.stderr
    assert [asked.method for asked in gateway.asked] == ["GET"]


def test_deleting_prints_the_receipt(run: Run, gateway: ScriptedGateway) -> None:
    receipt = {"document": document(1), "chunks_deleted": 7, "vectors_deleted": 7}
    gateway.will(f"DELETE /api/documents/{D1}", 200, receipt)
    result = run("documents", "delete", D1, "--yes")

    assert (result.exit_code, result.stdout) == (
        0,
        "Deleted   Document 1 (docs/1.md), version 2: 7 chunks, 7 vectors\n",
    )


def test_deleting_goes_on_after_one_that_is_not_there(run: Run, gateway: ScriptedGateway) -> None:
    receipt = {"document": document(2), "chunks_deleted": 7, "vectors_deleted": 7}
    gateway.refuse(f"DELETE /api/documents/{D1}", 404, "NOT_FOUND", "NOT_FOUND")
    gateway.will(f"DELETE /api/documents/{D2}", 200, receipt)
    result = run("documents", "delete", D1, D2, "--yes", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "deleted": [receipt],
        "failed": [{"document_id": D1, "error": "Refused: NOT_FOUND.", "code": "NOT_FOUND", "reason": "NOT_FOUND"}],
    }


def test_nothing_is_deleted_unasked_where_there_is_no_terminal(run: Run, gateway: ScriptedGateway) -> None:
    result = run("documents", "delete", D1)

    assert (result.exit_code, gateway.asked) == (2, [])
    assert "--yes" in result.stderr


# --- ingest ------------------------------------------------------------------------------------------------------


def test_a_named_file_that_is_no_document_is_said_and_fails(run: Run, library: Path) -> None:
    result = run("ingest", str(library / "c.docx"))

    assert result.exit_code == 1
    assert result.stdout.startswith("Nothing to ingest.\n")
    assert "c.docx: not one of .md, .markdown, .txt, .pdf" in " ".join(result.stdout.split())


def test_a_named_file_that_is_no_document_among_others_is_said_and_no_failure(
    run: Run, gateway: ScriptedGateway, library: Path
) -> None:
    gateway.will(INGEST, 200, created())
    result = run("ingest", *(str(library / name) for name in ("a.md", "c.docx")))

    assert result.exit_code == 0
    assert "c.docx" in result.stdout


def test_a_folder_of_other_files_is_no_failure_and_names_none(run: Run, library: Path) -> None:
    for name in ("a.md", "b.txt"):
        (library / name).unlink()
    result = run("ingest", str(library))

    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()][:2] == [["Nothing", "to", "ingest."], ["skipped", "1"]]
    assert "c.docx" not in result.stdout


def test_ingest_sums_up_what_was_done(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    gateway.will(INGEST, 200, created())
    gateway.will(INGEST, 200, created(outcome="UNCHANGED", chunks_added=0, chunks_removed=0, tokens_embedded=0))
    result = run("ingest", str(library))
    table = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    seconds = table.pop("seconds")

    assert result.exit_code == 0
    assert float(seconds) >= 0
    assert {name.strip(): count for name, count in table.items()} == {
        "created": "1",
        "unchanged": "1",
        "skipped": "1",
        "chunks added": "3",
        "chunks kept": "2",
        "chunks removed": "2",
        "tokens embedded": "90",
    }


def test_skipped_files_are_named_on_request(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    gateway.will(INGEST, 200, created())

    assert "c.docx" not in run("ingest", str(library)).stdout
    assert "c.docx: not one of" in " ".join(run("ingest", str(library), "-v").stdout.split())


def test_a_failed_file_is_named_with_the_reason_and_the_exit_code_is_one(
    run: Run, gateway: ScriptedGateway, library: Path
) -> None:
    gateway.refuse(INGEST, 400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY")
    gateway.will(INGEST, 200, created())
    result = run("ingest", str(library), "--jobs", "1")

    assert result.exit_code == 1
    assert "a.md: Refused: DOCUMENT_EMPTY. (DOCUMENT_EMPTY)" in " ".join(result.stdout.split())


def test_ingest_as_json_names_every_file(run: Run, gateway: ScriptedGateway, library: Path) -> None:
    gateway.refuse(INGEST, 400, "INVALID_ARGUMENT", "DOCUMENT_EMPTY")
    gateway.will(INGEST, 200, created())
    told = json.loads(run("ingest", str(library), "--json", "--jobs", "1").stdout)

    assert {name: told[name] for name in ("created", "replaced", "unchanged", "failed", "skipped", "not_tried")} == {
        "created": 1,
        "replaced": 0,
        "unchanged": 0,
        "failed": 1,
        "skipped": 1,
        "not_tried": 0,
    }
    assert [(Path(file["path"]).name, file["outcome"], file["reason"]) for file in told["files"]] == [
        ("a.md", "FAILED", "DOCUMENT_EMPTY"),
        ("b.txt", "CREATED", None),
        ("c.docx", "SKIPPED", None),
    ]
    assert told["interrupted"] is False


def test_a_path_that_is_not_there_is_a_wrong_call(run: Run, gateway: ScriptedGateway) -> None:
    result = run("ingest", "nowhere/at/all")

    assert (result.exit_code, gateway.asked) == (2, [])


@pytest.mark.parametrize("call", [("ask", "x"), ("search", "x"), ("documents",), ("ingest", ".")])
def test_a_stack_that_is_not_up_has_an_exit_code_of_its_own(
    run: Run, gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...]
) -> None:
    gateway.url = "http://127.0.0.1:1"
    result = run(*call)

    assert result.exit_code == 3
    assert "attest up" in result.stderr


@pytest.mark.parametrize("call", [("show", "tea"), ("show", "../answer?x"), ("delete", "tea", "--yes")])
def test_what_is_no_id_and_no_address_is_no_document(run: Run, gateway: ScriptedGateway, call: tuple[str, ...]) -> None:
    gateway.will(LIST, 200, {"documents": [], "next_page_token": ""})
    result = run("documents", *call)

    assert result.exit_code == 1
    assert "There is no document with this id or address; attest documents lists them. (NOT_FOUND)" in result.stderr
    assert [asked.path for asked in gateway.asked] == ["/api/documents"]


def lane(**changes: Any) -> dict[str, Any]:
    base = {
        "name": "hr",
        "description": f"For all {EVIL}",
        "chunk_tokens": 96,
        "overlap_tokens": 8,
        "document_count": 3,
        "title_prefix": True,
    }
    return {**base, **changes}


def test_lanes_are_listed_in_a_table(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will("GET /api/lanes", 200, {"lanes": [lane()], "next_page_token": ""})
    table = run("lanes").stdout

    assert {"hr", "3", "96", "8"} <= set(table.split())
    assert "\x1b" not in table


def test_all_pages_of_the_lanes_are_asked_for(run: Run, gateway: ScriptedGateway) -> None:
    gateway.will("GET /api/lanes", 200, {"lanes": [lane()], "next_page_token": "t2"})
    gateway.will("GET /api/lanes", 200, {"lanes": [lane(name="it")], "next_page_token": ""})

    assert json.loads(run("lanes", "--json").stdout) == {"lanes": [lane(), lane(name="it")]}
    assert [asked.params for asked in gateway.asked] == [{}, {"page_token": "t2"}]


@pytest.mark.parametrize("group", [(), ("documents",)])
def test_the_list_of_commands_cuts_no_sentence(run: Run, group: tuple[str, ...]) -> None:
    listed = run(*group, "--help").stdout.partition("Commands:")[2].partition("Exit codes:")[0].splitlines()

    assert len(listed) > 3
    assert [line for line in listed if line.endswith("...")] == []


def test_logs_of_a_home_without_a_stack_say_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path / "nothing"))
    done = run("logs")

    assert done.exit_code == 3
    assert "no stack was started there" in done.stderr
