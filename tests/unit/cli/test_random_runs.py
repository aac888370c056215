"""Whatever happens to a folder, after `attest ingest --prune` the library is what the folder says."""

import hashlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from services.cli.collect import ENDINGS
from tests.unit.cli.conftest import Run
from tests.unit.cli.gateway import Asked, ScriptedGateway

ROUNDS = 10
NAMES = ("a.md", "b c.md", "100%.txt", "für.markdown", "scan.pdf", "plan.dwg", ".hidden.md")
FOLDERS = ("", "sub", "sub/deep", "o'ther #1")
BESIDE = "docs-archive/kept.md"


class Shelf:
    """A library behind the gateway: documents by address, and how many contents were sent."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.sent = 0
        self.put(BESIDE, b"Beside the folder.")

    def put(self, source_url: str, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        old = self.documents.get(source_url)
        if old and old["content_sha256"] == sha256:
            return "UNCHANGED"
        media_type = ENDINGS["." + source_url.rpartition(".")[2]]
        self.documents[source_url] = {
            "document_id": hashlib.sha256(source_url.encode()).hexdigest()[:32],
            "source_url": source_url,
            "title": source_url,
            "version": old["version"] + 1 if old else 1,
            "media_type": media_type,
            "content_sha256": sha256,
            "chunk_count": 1,
            "up_to_date": True,
        }
        return "REPLACED" if old else "CREATED"

    def answer(self, asked: Asked) -> tuple[int, bytes, dict[str, str]]:
        """Serve the calls of an ingest."""
        if asked.method == "GET":
            prefix = asked.params.get("source_url_prefix", "")
            found = [document for url, document in self.documents.items() if url.startswith(prefix)]
            return 200, json.dumps({"documents": found, "next_page_token": ""}).encode(), {}
        if asked.method == "DELETE":
            document_id = asked.path.rpartition("/")[2]
            (url,) = (url for url, document in self.documents.items() if document["document_id"] == document_id)
            return 200, json.dumps({"document": self.documents.pop(url), "chunks_deleted": 1}).encode(), {}
        self.sent += 1
        if asked.path.endswith("/upload"):
            result = {"outcome": self.put(asked.params["source_url"], asked.body), "document": {}}
            return 200, json.dumps({"result": result}).encode(), {}
        outcome = self.put(asked.json["source_url"], asked.json["content"].encode())
        return 200, json.dumps({"outcome": outcome, "document": {}}).encode(), {}


def change(folder: Path, chance: random.Random) -> None:
    """Write, rename, move or delete something; at times a whole folder."""
    for _ in range(chance.randint(1, 5)):
        there = sorted(path for path in folder.rglob("*") if path.is_file())
        place = folder / chance.choice(FOLDERS) / chance.choice(NAMES)
        act = chance.random()
        if act < 0.5 or not there:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(chance.choice((b"One.", b"\xef\xbb\xbfTwo.", b"Three.\r\n", b"%PDF")))
        elif act < 0.7:
            place.parent.mkdir(parents=True, exist_ok=True)
            chance.choice(there).replace(place)
        elif act < 0.95:
            chance.choice(there).unlink()
        else:
            shutil.rmtree(folder / "sub", ignore_errors=True)
    (folder / "stays.md").write_text("So that the folder is never empty.")


def expected(folder: Path) -> dict[str, str]:
    """Return what the library should hold: paths and hashes of the documents, without their byte order marks."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(_sent(path)).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in ENDINGS and not path.name.startswith(".")
    }


def _sent(path: Path) -> bytes:
    content = path.read_bytes()
    return content if path.suffix == ".pdf" else content.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize("seed", range(2))
def test_after_every_run_the_library_is_what_the_folder_says(
    run: Run, gateway: ScriptedGateway, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edits, renames and deletions in any order; what is beside the folder stays; a second run sends nothing."""
    shelf, chance, folder = Shelf(), random.Random(seed), tmp_path / "docs"  # noqa: S311  # repeats by its seed
    monkeypatch.setattr(gateway, "answer", shelf.answer)
    folder.mkdir()
    for _ in range(ROUNDS):
        change(folder, chance)
        foreseen = json.loads(run("ingest", str(folder), "--prune", "--dry-run", "--json").stdout)
        told = json.loads(run("ingest", str(folder), "--prune-all", "--yes", "--json").stdout)
        sent = shelf.sent
        again = json.loads(run("ingest", str(folder), "--prune", "--json").stdout)

        inside = {url: one["content_sha256"] for url, one in shelf.documents.items() if url != BESIDE}
        assert sorted(inside.values()) == sorted(expected(folder).values())
        assert len(inside) == len(expected(folder))
        assert BESIDE in shelf.documents
        assert [foreseen[name] for name in COUNTS] == [told[name] for name in COUNTS]
        assert (shelf.sent, again["unchanged"], again["pruned"]) == (sent, len(inside), 0)


COUNTS = ("created", "replaced", "unchanged", "failed", "pruned", "skipped")
