from pathlib import Path

import pytest
from click.testing import CliRunner

from evals.command import main
from evals.storage import WorkFolder
from tests.unit.evals.test_report import PLAN, ROWS
from tests.unit.evals.test_threshold import facts


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without the shared data beside it."""
    inside = tmp_path / "clone"
    inside.mkdir()
    monkeypatch.chdir(inside)
    return inside


@pytest.fixture
def work(elsewhere: Path) -> Path:
    """What a run left that measured one set."""
    folder = elsewhere / "work"
    WorkFolder(folder, PLAN, resume=False).save(facts(), ROWS)
    return folder


@pytest.mark.parametrize("command", ["run", "quick"])
def test_without_the_shared_data_nothing_is_measured_and_nothing_fails(elsewhere: Path, command: str) -> None:
    done = CliRunner().invoke(main, [command])

    assert done.exit_code == 0
    assert "skipped, since ../shared/data/qa" in done.output


def test_a_folder_that_was_named_and_is_not_there_is_a_wrong_call(elsewhere: Path) -> None:
    done = CliRunner().invoke(main, ["run", "nowhere"])

    assert done.exit_code == 2
    assert "nowhere is not there" in done.output


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("command", ["threshold", "report"])
def test_without_a_finished_set_there_is_nothing_to_tell(command: str) -> None:
    done = CliRunner().invoke(main, [command])

    assert done.exit_code == 2
    assert "run make eval first" in done.output


def test_the_thresholds_of_a_run_are_printed_and_not_set(work: Path) -> None:
    done = CliRunner().invoke(main, ["threshold", "--work", str(work)])

    assert done.exit_code == 0
    assert "Embedding space of m, from 2 libraries: min_similarity 0.70" in done.output


def test_a_run_that_still_goes_on_is_reported(work: Path, elsewhere: Path) -> None:
    done = CliRunner().invoke(main, ["report", "--work", str(work), "--out", "out", "--json"])

    assert done.exit_code == 0
    assert '"cities/alone"' in done.output
    assert (elsewhere / "out" / "quality.md").is_file()
