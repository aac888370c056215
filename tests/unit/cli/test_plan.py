"""What an ingest sends, and what it need not send."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from services.cli.api import Api
from services.cli.batch import Outcome
from services.cli.collect import Collection, Found, collect
from services.cli.content import text_of
from services.cli.plan import Plan, compared, foreseen, stored_documents
from tests.unit.cli.gateway import ScriptedGateway

LIST = "GET /api/documents"


def document(source_url: str, content: bytes, **changes: Any) -> dict[str, Any]:
    base = {
        "document_id": source_url,
        "source_url": source_url,
        "media_type": "application/pdf" if source_url.endswith(".pdf") else "text/markdown",
        "content_sha256": hashlib.sha256(content).hexdigest(),
        "chunk_count": 7,
        "up_to_date": True,
    }
    return {**base, **changes}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tea.md").write_bytes(b"Tea.")
    (folder / "guide.pdf").write_bytes(b"%PDF")
    return folder


def plan(collection: Collection, *stored: dict[str, Any]) -> Plan:
    return compared(collection, {one["source_url"]: one for one in stored}, lambda done, of: None)


def addresses(files: Sequence[Found]) -> list[str]:
    return [file.source_url for file in files]


def asked_prefixes(gateway: ScriptedGateway, collection: Collection, lane: str | None = None) -> list[str]:
    with Api.at(gateway.url) as api:
        stored_documents(api, lane, collection)
    return [asked.params.get("source_url_prefix", "") for asked in gateway.asked]


def test_files_that_are_stored_as_they_are_need_not_be_sent(library: Path) -> None:
    """F81: unchanged bytes cost nothing, not even their way."""
    made = plan(collect([str(library)]), document("docs/tea.md", b"Tea."), document("docs/guide.pdf", b"%PDF"))

    assert made.to_send == []
    assert [(done.source_url, done.outcome, done.result["chunks_kept"]) for done in made.unchanged] == [
        ("docs/guide.pdf", Outcome.UNCHANGED, 7),
        ("docs/tea.md", Outcome.UNCHANGED, 7),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"content_sha256": "0" * 64},
        {"up_to_date": False},
        {"up_to_date": None},
        {"media_type": "text/plain"},
        {"source_url": "docs/Tea.md"},
    ],
    ids=["other bytes", "other settings", "settings unknown", "other kind", "other address"],
)
def test_in_doubt_a_file_is_sent(library: Path, changes: dict[str, Any]) -> None:
    made = plan(collect([str(library / "tea.md")]), {**document("docs/tea.md", b"Tea."), **changes})

    assert addresses(made.to_send) == ["docs/tea.md"]


def test_a_byte_order_mark_that_is_not_sent_is_not_compared(library: Path) -> None:
    (library / "tea.md").write_bytes(b"\xef\xbb\xbfTea.")

    assert plan(collect([str(library / "tea.md")]), document("docs/tea.md", b"Tea.")).to_send == []


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_text_in_utf_16_is_compared_as_it_is_sent(library: Path, encoding: str) -> None:
    (library / "tea.md").write_bytes("\ufeffTee für alle.".encode(encoding))
    [file] = collect([str(library / "tea.md")]).files

    assert text_of(file.path.read_bytes()) == "Tee für alle."
    assert plan(collect([str(library / "tea.md")]), document("docs/tea.md", "Tee für alle.".encode())).to_send == []


def test_a_text_that_cannot_be_read_is_left_to_the_sender_to_name(library: Path) -> None:
    (library / "tea.md").write_bytes(b"\xff\xfe\x00\xd8")

    assert addresses(plan(collect([str(library / "tea.md")]), document("docs/tea.md", b"Tea.")).to_send) == [
        "docs/tea.md"
    ]


def test_of_a_file_that_is_uploaded_every_byte_is_compared(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.cli.content.INLINE_BYTES", 3)
    content = b"\xef\xbb\xbfTea."
    (library / "tea.md").write_bytes(content)
    collection = collect([str(library / "tea.md")])

    assert plan(collection, document("docs/tea.md", content)).to_send == []
    assert addresses(plan(collection, document("docs/tea.md", b"Tea.")).to_send) == ["docs/tea.md"]


def test_a_file_that_cannot_be_read_is_left_to_the_sender_to_name(library: Path) -> None:
    collection = collect([str(library / "tea.md")])
    (library / "tea.md").unlink()

    assert addresses(plan(collection, document("docs/tea.md", b"Tea.")).to_send) == ["docs/tea.md"]


def test_only_what_has_to_be_compared_is_read_and_its_bytes_are_told(library: Path) -> None:
    told: list[tuple[int, int]] = []
    (library / "long.md").write_bytes(b"x" * (2**20 + 1))
    stored = document("docs/long.md", b"x" * (2**20 + 1))
    compared(collect([str(library)]), {"docs/long.md": stored}, lambda done, of: told.append((done, of)))

    assert told == [(2**20, 2**20 + 1), (2**20 + 1, 2**20 + 1)]


def test_what_would_become_of_each_file_is_known_without_sending_any(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.cli.content.MOST_TEXT_BYTES", 9)
    for name, content in {
        "new.md": b"New.",
        "long.md": b"x" * 10,
        "blank.txt": b" \n",
        "old.txt": "für".encode("latin-1"),
        "empty.pdf": b"",
    }.items():
        (library / name).write_bytes(content)
    made = plan(collect([str(library)]), document("docs/tea.md", b"Other."), document("docs/guide.pdf", b"%PDF"))

    told = {done.source_url: done.error.reason if done.error else str(done.outcome) for done in foreseen(made)}
    assert told == {
        "docs/blank.txt": "DOCUMENT_EMPTY",
        "docs/empty.pdf": "DOCUMENT_EMPTY",
        "docs/guide.pdf": "UNCHANGED",
        "docs/long.md": "DOCUMENT_TOO_LARGE",
        "docs/new.md": "CREATED",
        "docs/old.txt": "TEXT_MALFORMED",
        "docs/tea.md": "REPLACED",
    }


def test_a_file_that_vanished_would_be_refused(library: Path) -> None:
    collection = collect([str(library / "tea.md")])
    (library / "tea.md").unlink()

    (done,) = foreseen(plan(collection))
    assert done.error is not None
    assert done.error.reason == "FILE_UNREADABLE"


def test_of_the_library_only_what_the_call_could_mean_is_asked_for(gateway: ScriptedGateway, library: Path) -> None:
    (library / "sub").mkdir()
    (library / "sub" / "a.md").write_text("x")
    other = library.parent / "notes.md"
    other.write_text("x")
    collection = collect([str(library), str(library / "sub"), str(other)], base=library.parent)

    assert asked_prefixes(gateway, collection, "hr") == ["docs/", "notes.md"]
    assert {asked.params["lane"] for asked in gateway.asked} == {"hr"}


def test_many_files_are_asked_for_by_their_folders(gateway: ScriptedGateway, library: Path) -> None:
    for number in range(21):
        (library / f"{number:02}.md").write_text("x")

    assert asked_prefixes(gateway, collect([f"{library}/*.md"])) == ["docs/"]
    assert gateway.asked[0].params["lane"] == "default"


def test_a_folder_that_is_the_base_means_the_whole_lane(gateway: ScriptedGateway, library: Path) -> None:
    assert asked_prefixes(gateway, collect([str(library)], base=library)) == [""]


def test_a_list_that_is_refused_for_a_while_is_asked_for_again(gateway: ScriptedGateway, library: Path) -> None:
    gateway.refuse(LIST, 503, "UNAVAILABLE", "UPSTREAM_UNAVAILABLE", retry_after="0")
    gateway.will(LIST, 200, {"documents": [document("docs/tea.md", b"Tea.")], "next_page_token": ""})
    with Api.at(gateway.url) as api:
        stored = stored_documents(api, None, collect([str(library)]))

    assert list(stored) == ["docs/tea.md"]
