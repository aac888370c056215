"""What the commands do on a terminal, on a real one: a pseudo-terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.unit.cli.gateway import ScriptedGateway

ATTEST = Path(sys.executable).parent / "attest"
SECONDS = 20.0
ID = "d1" * 16
RECEIPT = {
    "document": {"title": "Tea", "source_url": "docs/tea.md", "version": 1},
    "chunks_deleted": 1,
    "vectors_deleted": 1,
}


class Terminal:
    """A command on a terminal of 60 columns."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process = process
        self._end = end
        self.output = ""

    def read_until(self, text: str) -> None:
        """Read on until a text has come; fail after a while."""
        deadline = time.monotonic() + SECONDS
        while text not in self.output:
            assert time.monotonic() < deadline, self.output
            if not self._read():
                break
        assert text in self.output, self.output

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._end, text.encode())

    def end(self) -> int:
        """Read all that is left and return the exit code."""
        deadline = time.monotonic() + SECONDS
        while self._read():
            assert time.monotonic() < deadline, self.output
        return self.process.wait(timeout=SECONDS)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._end], [], [], SECONDS)
        try:
            read = os.read(self._end, 65536) if ready else b""
        except OSError:  # Linux says so when the other end is closed
            read = b""
        self.output += read.decode(errors="replace")
        return bool(read)


@contextmanager
def on_terminal(gateway: ScriptedGateway, *arguments: str, **environment: str) -> Iterator[Terminal]:
    """Run the command on a terminal of its own."""
    ours, theirs = pty.openpty()
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    settings = {**kept, "ATTEST_HTTP_PORT": gateway.port, "TERM": "xterm-256color", "COLUMNS": "60", **environment}
    process = subprocess.Popen(
        [ATTEST, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=settings, start_new_session=True
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for number in range(20):
        (tmp_path / f"{number:02}.md").write_text("x" * 100)
    return tmp_path


def test_an_answer_has_colours_on_a_terminal_and_fits_it(gateway: ScriptedGateway) -> None:
    gateway.will("POST /api/answer", 200, {"outcome": "ANSWERED", "answer": "word " * 40, "sources": []})
    with on_terminal(gateway, "ask", "How?") as terminal:
        assert terminal.end() == 0

    assert "\x1b[" in terminal.output
    assert max(len(line) for line in terminal.output.splitlines() if "\x1b" not in line) == 59


def test_no_color_is_honoured(gateway: ScriptedGateway) -> None:
    gateway.will("POST /api/answer", 200, {"outcome": "ANSWERED", "answer": "word", "sources": []})
    with on_terminal(gateway, "ask", "How?", NO_COLOR="1") as terminal:
        assert terminal.end() == 0

    assert "\x1b" not in terminal.output


def test_a_question_can_be_typed(gateway: ScriptedGateway) -> None:
    gateway.will("POST /api/answer", 200, {"outcome": "NO_EVIDENCE", "answer": "", "sources": []})
    with on_terminal(gateway, "ask", "-") as terminal:
        terminal.read_until("Ctrl-D")
        terminal.type("How often?\n\x04")
        assert terminal.end() == 0

    assert gateway.asked[0].json == {"question": "How often?"}


@pytest.mark.parametrize(("typed", "code", "deleted"), [("y\n", 0, 1), ("n\n", 1, 0), ("\n", 1, 0)])
def test_deleting_asks_first(gateway: ScriptedGateway, typed: str, code: int, deleted: int) -> None:
    gateway.will(f"DELETE /api/documents/{ID}", 200, RECEIPT)
    with on_terminal(gateway, "documents", "delete", ID) as terminal:
        terminal.read_until("[y/N]")
        terminal.type(typed)
        assert terminal.end() == code

    assert len(gateway.asked) == deleted


def test_a_bar_shows_how_far_an_ingest_is(gateway: ScriptedGateway, library: Path) -> None:
    gateway.will("POST /api/documents", 200, {"outcome": "CREATED", "document": {}})
    with on_terminal(gateway, "ingest", str(library)) as terminal:
        assert terminal.end() == 0

    assert "Ingesting" in terminal.output
    assert "20/20 files" in terminal.output


def test_ctrl_c_stops_at_once_says_how_to_go_on_and_counts_what_is_left(
    gateway: ScriptedGateway, library: Path
) -> None:
    for _ in range(3):
        gateway.will("POST /api/documents", 200, {"outcome": "CREATED", "document": {}})
    gateway.refuse("POST /api/documents", 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED", retry_after="60")
    with on_terminal(gateway, "ingest", str(library), "--jobs", "1") as terminal:
        terminal.read_until("Waiting 60 s")
        began = time.monotonic()
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == 130

    assert time.monotonic() - began < 5
    said = " ".join(terminal.output.split())
    assert "17 of 20 files are left" in said
    assert "run the same command again" in said


@pytest.fixture
def shrunk(gateway: ScriptedGateway, tmp_path: Path) -> Path:
    """A folder of one file; the library has two documents of it."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "new.md").write_text("x")
    documents = [
        {"document_id": name, "source_url": f"docs/{name}.md", "title": name, "chunk_count": 3}
        for name in ("gone", "new")
    ]
    gateway.will("GET /api/documents", 200, {"documents": documents, "next_page_token": ""})
    gateway.will("POST /api/documents", 200, {"outcome": "REPLACED", "document": {}})
    return folder


@pytest.mark.parametrize(("typed", "code", "methods"), [("y\n", 0, ["GET", "POST", "DELETE"]), ("n\n", 1, ["GET"])])
def test_pruning_shows_what_would_go_and_asks_before_anything_is_sent(
    gateway: ScriptedGateway, shrunk: Path, typed: str, code: int, methods: list[str]
) -> None:
    gateway.will("DELETE /api/documents/gone", 200, {"document": {}, "chunks_deleted": 3})
    with on_terminal(gateway, "ingest", str(shrunk), "--prune") as terminal:
        terminal.read_until("[y/N]")
        assert "docs/gone.md" in terminal.output
        assert "docs/new.md" not in terminal.output
        assert "1 document with 3 chunks has lost its file." in " ".join(terminal.output.split())
        assert [asked.method for asked in gateway.asked] == ["GET"]
        terminal.type(typed)
        assert terminal.end() == code

    assert [asked.method for asked in gateway.asked] == methods


def test_a_folder_that_lost_everything_is_not_even_asked_about(gateway: ScriptedGateway, shrunk: Path) -> None:
    (shrunk / "new.md").unlink()
    with on_terminal(gateway, "ingest", str(shrunk), "--prune") as terminal:
        assert terminal.end() == 2

    assert [asked.method for asked in gateway.asked] == ["GET"]
    assert "add --prune-all" in " ".join(terminal.output.split())


def test_ctrl_c_while_documents_are_deleted_says_how_many_are_left(gateway: ScriptedGateway, shrunk: Path) -> None:
    gateway.refuse("DELETE /api/documents/gone", 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED", retry_after="60")
    with on_terminal(gateway, "ingest", str(shrunk), "--prune", "--yes") as terminal:
        terminal.read_until("Waiting 60 s")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == 130

    said = " ".join(terminal.output.split())
    assert "0 of 1 files are left, and 1 document to prune" in said
    assert "run the same command again" in said
