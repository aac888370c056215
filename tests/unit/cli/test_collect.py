"""Which files a call means."""

import os
from pathlib import Path

import pytest

from services.cli.collect import Collection, PathError, collect


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with documents at two depths, something hidden, and something of another kind."""
    folder = tmp_path / "docs"
    for name in ("tea.md", "sub/coffee.MARKDOWN", "sub/deep/guide.pdf", "notes.txt", "photo.png", ".git/log.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def addresses(collection: Collection) -> list[str]:
    return sorted(file.source_url for file in collection.files)


def skipped(collection: Collection) -> dict[str, str]:
    return {path.name: why for path, why in collection.skipped}


ALL = ["docs/notes.txt", "docs/sub/coffee.MARKDOWN", "docs/sub/deep/guide.pdf", "docs/tea.md"]


def test_a_folder_means_all_below_it_and_its_name_stays_in_the_addresses(library: Path) -> None:
    assert addresses(collect([str(library)])) == ALL


def test_the_addresses_do_not_depend_on_where_the_command_is_run(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(library / "sub")

    assert addresses(collect([".."])) == ALL
    assert addresses(collect(["."])) == ["sub/coffee.MARKDOWN", "sub/deep/guide.pdf"]


def test_other_endings_and_hidden_files_are_skipped_with_a_reason(library: Path) -> None:
    assert skipped(collect([str(library)])) == {
        "photo.png": "not one of .md, .markdown, .txt, .pdf",
        ".git": "hidden",
    }


def test_a_hidden_file_that_is_named_is_taken(library: Path) -> None:
    assert addresses(collect([str(library / ".git" / "log.md")])) == [".git/log.md"]


def test_a_file_is_stored_under_the_folder_that_it_lies_in(library: Path) -> None:
    assert addresses(collect([str(library / "tea.md")])) == ["docs/tea.md"]


def test_a_quoted_pattern_means_what_it_matches_below_its_fixed_part(library: Path) -> None:
    assert addresses(collect([f"{library}/**/*.pdf"])) == ["docs/sub/deep/guide.pdf"]
    assert addresses(collect([f"{library}/*.md"])) == ["docs/tea.md"]


def test_a_pattern_without_a_folder_starts_where_the_command_is_run(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(library)

    assert addresses(collect(["*.md"])) == ["docs/tea.md"]


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a[1].md").write_text("x")

    assert [file.path.name for file in collect([str(tmp_path / "a[1].md")]).files] == ["a[1].md"]


def test_a_base_shortens_the_addresses(library: Path) -> None:
    assert addresses(collect([str(library / "sub")], base=library)) == ["sub/coffee.MARKDOWN", "sub/deep/guide.pdf"]
    assert addresses(collect([str(library / "sub")], base=library / "sub")) == ["coffee.MARKDOWN", "deep/guide.pdf"]


def test_a_file_outside_the_base_is_refused(library: Path) -> None:
    with pytest.raises(PathError, match="not below"):
        collect([str(library / "tea.md")], base=library / "sub")


def test_a_file_that_two_paths_mean_is_taken_once(library: Path) -> None:
    assert addresses(collect([str(library), str(library / "tea.md"), f"{library}/*.md"])) == ALL


def test_two_files_with_one_address_are_refused(library: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "docs" / "tea.md"
    other.parent.mkdir(parents=True)
    other.write_text("x")

    with pytest.raises(PathError, match="--base"):
        collect([str(library), str(other)])


@pytest.mark.parametrize(("given", "said"), [("absent", "is not there"), ("absent/*.md", "matches nothing")])
def test_a_path_that_is_not_there_is_refused(tmp_path: Path, given: str, said: str) -> None:
    with pytest.raises(PathError, match=said):
        collect([str(tmp_path / given)])


def test_a_loop_of_links_ends(library: Path) -> None:
    (library / "sub" / "again").symlink_to(library)
    collection = collect([str(library)])

    assert addresses(collection) == ALL
    assert skipped(collection)["again"] == "the folder was walked through already"


def test_a_real_folder_wins_over_a_link_to_it(library: Path) -> None:
    (library / "a-link").symlink_to(library / "sub")
    (library / "deep-link").symlink_to(library / "sub" / "deep")

    assert addresses(collect([str(library)])) == ALL


def test_a_link_that_leads_out_of_the_folder_is_skipped(library: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not meant")
    (library / "innocent.md").symlink_to(secret)
    collection = collect([str(library)])

    assert addresses(collection) == ALL
    assert skipped(collection)["innocent.md"] == "a link that leads out of the folder"


def test_a_link_that_is_named_is_followed(library: Path, tmp_path: Path) -> None:
    (tmp_path / "linked.md").symlink_to(library / "tea.md")
    (tmp_path / "linked").symlink_to(library)

    assert [file.path.name for file in collect([str(tmp_path / "linked.md")]).files] == ["linked.md"]
    assert addresses(collect([str(tmp_path / "linked")])) == ALL


def test_what_is_no_regular_file_is_skipped(library: Path) -> None:
    os.mkfifo(library / "pipe.md")

    assert skipped(collect([str(library)]))["pipe.md"] == "not a regular file"


def test_a_broken_link_is_named_as_unreadable(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere.md")

    assert collect([str(tmp_path / "gone.md")]).unreadable == [
        (tmp_path.resolve() / "gone.md", "No such file or directory")
    ]


def test_an_empty_folder_means_nothing(tmp_path: Path) -> None:
    assert collect([str(tmp_path)]).files == []
