"""A hint is a command that works as it stands."""

import sys
from pathlib import Path

import pytest

from services.cli.hints import command


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a command in a virtual environment that the shell does not search, and go where it lies."""
    called = tmp_path / ".venv" / "bin" / "attest"
    called.parent.mkdir(parents=True)
    called.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    return called


@pytest.mark.parametrize("absolute", [True, False])
def test_a_command_off_the_path_is_named_by_its_place(
    installed: Path, monkeypatch: pytest.MonkeyPatch, absolute: bool
) -> None:
    monkeypatch.setattr(sys, "argv", [str(installed) if absolute else ".venv/bin/attest"])

    assert command("up") == ".venv/bin/attest up"


def test_a_command_far_away_is_named_by_its_whole_place(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(installed)])
    monkeypatch.chdir("/usr/share/doc")

    assert command("up") == f"{installed} up"


def test_a_command_on_the_path_is_named_by_its_name(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(installed)])
    monkeypatch.setenv("PATH", str(installed.parent))

    assert command("ingest PATH") == "attest ingest PATH"


def test_what_is_not_the_command_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/pytest"])

    assert command("up") == "attest up"
