"""What `python -m evals.pdf` says of the files that it read."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evals.pdf import Line, main, printed, summary
from evals.pdf_expected import DEVIATIONS, Outcome, Row, deviation, rows
from evals.pdf_measured import Measured, measured_apart
from services.common.errors import Reason
from tests.fakes.pdf import pdf

TEXT = Row("files/a.pdf", "text", 3, 5, ("abc",))
REFUSED = Outcome(reason=Reason.DOCUMENT_DAMAGED)


@pytest.mark.parametrize(
    ("row", "outcome", "said"),
    [
        (TEXT, Outcome("a b c abc"), "6 characters, not 3 to 5"),
        (TEXT, Outcome("ab"), "2 characters, not 3 to 5"),
        (TEXT, Outcome("abd"), "without abc"),
        (TEXT, Outcome(" abc d"), ""),
        (TEXT, REFUSED, "not read"),
        (Row("a.pdf", "password"), REFUSED, "not DOCUMENT_ENCRYPTED"),
        (Row("a.pdf", "password"), Outcome(reason=Reason.DOCUMENT_ENCRYPTED), ""),
        (Row("a.pdf", "no_text"), Outcome("a"), "not DOCUMENT_WITHOUT_TEXT"),
        (Row("a.pdf", "error"), Outcome("a"), "read, though it is no PDF that can be used"),
        (Row("a.pdf", "error"), REFUSED, ""),
        (Row("a.pdf", "text_or_error"), REFUSED, ""),
        (Row("a.pdf", "limit_or_text"), Outcome("a"), ""),
        (Row("a.pdf", "blank_or_text"), Outcome(reason=Reason.DOCUMENT_WITHOUT_TEXT), ""),
        (Row("a.pdf", "blank_or_text"), REFUSED, "neither text nor blank"),
        (Row("a.pdf", "new_word"), Outcome("a"), "the manifest expects new_word, which is unknown here"),
    ],
)
def test_an_outcome_is_held_against_its_row(row: Row, outcome: Outcome, said: str) -> None:
    assert deviation(row, outcome) == said


def test_a_reasoned_deviation_is_a_text_and_says_why() -> None:
    name, why = next(iter(DEVIATIONS.items()))
    line = Line(Row(f"files/{name}", "no_text", 0, 40), Measured(Outcome("Figure 1")))

    assert not line.wrong
    assert f"yes ({why})" in " ".join(printed([line]).split())


@pytest.mark.parametrize(
    "measured",
    [
        Measured(Outcome("abc"), cpu_seconds=61),
        Measured(Outcome("abc"), wall_seconds=61),
        Measured(Outcome("abc"), peak_mib=1537),
        Measured(Outcome("abc"), fault="KeyError pdf.py:1"),
    ],
    ids=["processor", "wait", "memory", "fault"],
)
def test_a_right_text_does_not_make_up_for_a_limit_or_a_fault(measured: Measured) -> None:
    line = Line(TEXT, measured)

    assert line.wrong
    assert "0 as expected" in summary([line])


def test_what_a_file_took_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(["One page.", "Two pages."]))
    found = measured_apart(tmp_path / "a.pdf")

    assert (found.outcome.text, found.pages, found.fault) == ("One page.Two pages.", 2, "")
    assert 0 < found.cpu_seconds < 60
    assert 20 < found.peak_mib < 1536


@pytest.mark.parametrize(("outcome", "code"), [("text", 0), ("password", 1)])
def test_the_command_fails_where_a_file_deviates(tmp_path: Path, outcome: str, code: int) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(["Sent as it is."]))
    row = {"file": "a.pdf", "expect": {"outcome": outcome, "max_chars": 20}}
    (tmp_path / "manifest.jsonl").write_text(json.dumps(row) + "\n")
    run = CliRunner().invoke(main, ["--folder", str(tmp_path), "--json"])

    assert run.exit_code == code
    assert json.loads(run.stdout)[0]["characters"] == 11


def test_without_the_files_nothing_is_measured(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["--folder", str(tmp_path)])

    assert run.exit_code == 0
    assert "skipped" in run.stderr
    assert rows(tmp_path) == []
