"""Which documents have lost their files, and which only seem to."""

import os
from pathlib import Path
from typing import Any

import pytest

from services.cli.api import Api
from services.cli.batch import Done, Outcome
from services.cli.collect import Collection, collect
from services.cli.prune import Loss, is_gone, lost, pruned
from tests.unit.cli.gateway import ScriptedGateway

DELETE = "DELETE /api/documents/docs%2Fgone.md"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "tea.md").write_text("Tea.")
    (folder / "sub" / "coffee.md").write_text("Coffee.")
    return folder


def loss(collection: Collection, *addresses: str) -> Loss:
    stored = {url: {"document_id": url, "source_url": url, "title": url, "chunk_count": 1} for url in addresses}
    return lost(collection, stored)


def gone(collection: Collection, *addresses: str) -> list[str]:
    return [one.source_url for one in loss(collection, *addresses).gone]


def test_a_document_without_its_file_is_found_and_one_with_it_is_not(library: Path) -> None:
    found = gone(collect([str(library)]), "docs/tea.md", "docs/sub/coffee.md", "docs/gone.md", "docs/old/gone.md")

    assert found == ["docs/gone.md", "docs/old/gone.md"]


def test_nothing_outside_the_folders_named_is_touched(library: Path) -> None:
    outside = ("tea.md", "docs-old/a.md", "docsa.md", "other/a.md", "sub/gone.md", "https://docs/gone.md")

    assert gone(collect([str(library)]), *outside) == []
    assert gone(collect([str(library / "sub")], base=library.parent), "docs/gone.md", "docs/sub/gone.md") == [
        "docs/sub/gone.md"
    ]


def test_files_and_patterns_name_no_folder(library: Path) -> None:
    assert gone(collect([str(library / "tea.md")]), "docs/gone.md") == []
    assert gone(collect([f"{library}/*.md"]), "docs/gone.md") == []


def test_a_folder_that_is_the_base_means_the_lane_but_no_address_that_is_not_a_file_s(library: Path) -> None:
    collection = collect([str(library)], base=library)

    assert gone(collection, "tea.md", "gone.md", "https://example.org/a.md", "file:///a.md") == ["gone.md"]


def test_what_no_file_could_have_as_its_address_stays(library: Path) -> None:
    strange = ("docs/../x.md", "docs//x.md", "docs/./x.md", "docs/x.md?y", "docs/x%2Fy.md", "docs/x%41.md", "docs/")

    assert gone(collect([str(library)]), *strange) == []


def test_an_address_leads_back_to_its_file_whatever_its_name(library: Path) -> None:
    names = ["a b.md", "100%.md", "what?.md", "für #1.md", os.fsdecode(b"\xff.md")]
    for name in names:
        (library / name).write_text("x")
    before = collect([str(library)])
    addresses = [file.source_url for file in before.files]
    assert gone(before, *addresses) == []
    for name in names:
        (library / name).unlink()

    found = loss(collect([str(library)]), *addresses)
    assert sorted(one.path.name for one in found.gone) == sorted(names)


def test_what_is_there_and_only_left_out_stays(library: Path, tmp_path: Path) -> None:
    (library / ".hidden.md").write_text("x")
    (library / "sub" / "plan.dwg").write_text("x")
    (library / "linked.md").symlink_to(library / "tea.md")
    (tmp_path / "outside.md").write_text("x")
    (library / "out.md").symlink_to(tmp_path / "outside.md")
    (library / "broken.md").symlink_to(tmp_path / "nowhere.md")
    (library / "again").symlink_to(library)
    addresses = [".hidden.md", "sub/plan.dwg", "linked.md", "out.md", "broken.md", "again/tea.md"]

    assert gone(collect([str(library)]), *(f"docs/{name}" for name in addresses)) == []


def test_below_what_could_not_be_read_nothing_counts_as_gone(library: Path) -> None:
    collection = collect([str(library)])
    collection.unreadable.append((library / "sub", "Input/output error"))

    assert gone(collection, "docs/sub/gone.md", "docs/gone.md", "docs/tea.md") == ["docs/gone.md"]


def test_a_folder_in_the_place_of_the_file_is_no_file(library: Path) -> None:
    (library / "was.md").mkdir()

    assert gone(collect([str(library)]), "docs/was.md", "docs/tea.md") == ["docs/was.md"]


def test_a_place_that_cannot_be_looked_at_is_not_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    assert is_gone(tmp_path / "nowhere.md")
    monkeypatch.setattr(Path, "lstat", refused)
    assert not is_gone(tmp_path / "nowhere.md")


def test_a_folder_that_would_lose_all_its_documents_is_named(library: Path) -> None:
    """A folder that is empty because nothing is mounted there, or another one of the same name."""
    (library / "tea.md").unlink()
    (library / "sub" / "coffee.md").unlink()
    found = loss(collect([str(library)]), "docs/tea.md", "docs/sub/coffee.md", "docs/tea.md?by=hand")

    assert [(folder.path, count) for folder, count in found.emptied] == [(library, 2)]


def test_a_folder_that_keeps_a_document_is_not_named(library: Path) -> None:
    assert loss(collect([str(library)]), "docs/gone.md", "docs/tea.md").emptied == []


def test_a_document_below_two_folders_named_is_counted_once(library: Path) -> None:
    collection = collect([str(library), str(library / "sub")], base=library.parent)

    assert gone(collection, "docs/sub/gone.md", "docs/tea.md", "docs/sub/coffee.md") == ["docs/sub/gone.md"]


def deleted(gateway: ScriptedGateway, library: Path) -> list[Done]:
    (one,) = loss(collect([str(library)]), "docs/gone.md", "docs/tea.md").gone
    with Api.at(gateway.url) as api:
        return pruned(api, one)


def test_what_was_deleted_is_told_with_its_chunks(gateway: ScriptedGateway, library: Path) -> None:
    receipt: dict[str, Any] = {"document": {"document_id": "docs/gone.md", "version": 3}, "chunks_deleted": 4}
    gateway.will(DELETE, 200, receipt)
    (done,) = deleted(gateway, library)

    assert (done.outcome, done.result["chunks_removed"]) == (Outcome.PRUNED, 4)


def test_a_document_that_somebody_writes_is_tried_again(gateway: ScriptedGateway, library: Path) -> None:
    gateway.refuse(DELETE, 409, "ABORTED", "DOCUMENT_BUSY", retry_after="0")
    gateway.will(DELETE, 200, {"chunks_deleted": 4})

    assert [done.outcome for done in deleted(gateway, library)] == [Outcome.PRUNED]
    assert len(gateway.asked) == 2


def test_a_document_that_somebody_else_deleted_is_gone_as_well(gateway: ScriptedGateway, library: Path) -> None:
    gateway.refuse(DELETE, 404, "NOT_FOUND", "NOT_FOUND")

    assert [done.outcome for done in deleted(gateway, library)] == [Outcome.PRUNED]


def test_a_deletion_that_fails_is_told(gateway: ScriptedGateway, library: Path) -> None:
    gateway.refuse(DELETE, 500, "INTERNAL", "INTERNAL")
    (done,) = deleted(gateway, library)

    assert done.outcome is Outcome.FAILED
    assert done.error is not None


def test_a_file_that_came_back_meanwhile_keeps_its_document(gateway: ScriptedGateway, library: Path) -> None:
    (one,) = loss(collect([str(library)]), "docs/gone.md", "docs/tea.md").gone
    (library / "gone.md").write_text("Here again.")
    with Api.at(gateway.url) as api:
        assert pruned(api, one) == []

    assert gateway.asked == []
