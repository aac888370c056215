"""Shipped migrations stay as they are."""

import shutil
from pathlib import Path

import pytest

from scripts import migrations


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copy the migrations to where they may be changed."""
    return Path(shutil.copytree(migrations.MIGRATIONS, tmp_path / "migrations"))


def test_the_migrations_are_as_they_were_frozen(capsys: pytest.CaptureFixture[str]) -> None:
    """Write a new migration instead of changing one; run 'make freeze' for a new one."""
    assert (migrations.main(["--check"]), capsys.readouterr().err) == (0, "")


def test_a_changed_one_is_refused_and_not_frozen_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "0001_create_documents.sql"
    path.write_text(path.read_text() + "\n")

    assert (migrations.main(["--check"], folder), migrations.main([], folder)) == (1, 1)
    assert "0001_create_documents.sql is frozen" in capsys.readouterr().err
    assert migrations.main(["--check"], folder) == 1


def test_one_that_is_gone_is_missed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "0001_create_documents.sql").unlink()

    assert migrations.main(["--check"], folder) == 1
    assert "write a new migration" in capsys.readouterr().err


def test_a_new_one_is_frozen_by_one_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "9999_more.sql").write_text("-- migrate:up\n-- migrate:down\n")
    before = migrations.main(["--check"], folder)

    assert (before, migrations.main([], folder), migrations.main(["--check"], folder)) == (1, 0, 0)
    said = capsys.readouterr()
    assert "run 'make freeze'" in said.err
    assert said.out == "frozen: 9999_more.sql\n"


def test_a_new_one_before_a_frozen_one_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "0000_early.sql").write_text("-- migrate:up\n-- migrate:down\n")

    assert migrations.main([], folder) == 1
    assert "must have a higher number" in capsys.readouterr().err
