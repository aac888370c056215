"""The file of a backup is whole or not there, its owner's alone, and checked before it is used."""

from pathlib import Path

import pytest

from services.cli.stack.archive import FORMAT, ArchiveError, Keys, Manifest, new_archive, open_archive

MANIFEST = Manifest(FORMAT, "0.1.0", "0005", "18.6", 1.0, documents=2, chunks=9)
KEYS = Keys("aa" * 32, "bb" * 32)


def _write(file: Path, dump: bytes = b"dump" * 1000, manifest: Manifest = MANIFEST, *, replace: bool = False) -> None:
    with new_archive(file, manifest, KEYS, replace=replace) as into:
        into.write(dump)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    _write(tmp_path / "b")
    with open_archive(tmp_path / "b") as (manifest, keys, dump):
        assert (manifest, keys, dump.read()) == (MANIFEST, KEYS, b"dump" * 1000)

    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_is_kept_unless_asked_otherwise(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")
    with pytest.raises(ArchiveError, match="is there already"):
        _write(tmp_path / "b")
    assert (tmp_path / "b").read_text() == "mine"

    _write(tmp_path / "b", replace=True)
    assert (tmp_path / "b").stat().st_size > 1000


def test_a_dump_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_archive(tmp_path / "b", MANIFEST, KEYS, replace=False):
        _ = 1 // 0

    assert list(tmp_path.iterdir()) == []


def test_a_damaged_backup_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "b")
    content = bytearray((tmp_path / "b").read_bytes())
    content[content.index(b"dumpdump") + 50] ^= 1
    (tmp_path / "b").write_bytes(content)

    with pytest.raises(ArchiveError, match="is damaged"), open_archive(tmp_path / "b"):
        pass


@pytest.mark.parametrize("size", [0, 10, 900])
def test_a_backup_that_is_cut_short_is_refused(tmp_path: Path, size: int) -> None:
    _write(tmp_path / "b")
    (tmp_path / "b").write_bytes((tmp_path / "b").read_bytes()[:size])

    with pytest.raises(ArchiveError, match="no backup of Attest, or it is cut short"), open_archive(tmp_path / "b"):
        pass


def test_a_backup_of_a_newer_layout_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "b", manifest=Manifest(FORMAT + 1, "7.0.0", "0005", "18.6", 1.0, 2, 9))

    with pytest.raises(ArchiveError, match=r"Attest 7\.0\.0, which is newer"), open_archive(tmp_path / "b"):
        pass


def test_a_backup_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="No such file"), open_archive(tmp_path / "b"):
        pass


def test_the_keys_are_not_shown() -> None:
    assert "aa" not in repr(KEYS)


def test_a_file_without_a_name_is_refused() -> None:
    with pytest.raises(ArchiveError, match="FILE is empty"):
        _write(Path(""))  # noqa: PTH201  # what an empty argument becomes
