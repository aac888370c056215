"""The table of `gateway/verify.sh` fits the gateway; breaking every line is `make verify-gateway-broken`."""

import subprocess
import sys
from pathlib import Path

import pytest

from services.cli.stack import gateway
from tests.gateway import verify
from tests.gateway.verify import FAILED, FOLDER, NO_PROOF, PASSED, Check, Results, read_checks

CHECKS = read_checks()
SAMPLE = ["an unknown field is refused", "every reply carries x-frame-options", "HOST_NOT_ALLOWED is named"]
SOME = Check(name="some", file="a", line="b", broken="c", test="test_x.py::test_y")


def test_there_are_enough_checks_and_each_has_its_name() -> None:
    assert len(CHECKS) == len({check.name for check in CHECKS}) >= 40


def test_each_check_names_one_line_and_a_test_that_there_is() -> None:
    sources = {path.name: path.read_text() for path in gateway.SOURCE.iterdir()}
    tests = {path.name: path.read_text() for path in FOLDER.glob("test_*.py")}

    for check in CHECKS:
        file, _, name = check.test.partition("[")[0].partition("::")
        assert sources[check.file].count(check.line) == 1, check.name
        assert check.broken != check.line, check.name
        assert f"async def {name}(" in tests[file], check.name


def test_checks_fail_when_their_lines_are_broken() -> None:
    """A sample; seeing all of them takes minutes. In a process of its own, as it forks."""
    chosen = [option for name in SAMPLE for option in ("--only", name)]

    done = subprocess.run(
        [sys.executable, "-m", "tests.gateway.verify", "--broken", *chosen],
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.returncode, set(done.stdout.splitlines())) == (0, {f"seen      {name}" for name in SAMPLE}), (
        done.stderr
    )


@pytest.mark.parametrize(
    ("results", "outcome"),
    [
        (Results(ran={"tests/gateway/test_x.py::test_y"}), PASSED),
        (Results(ran={"tests/gateway/test_x.py::test_y[1]"}), PASSED),
        (
            Results(ran={"tests/gateway/test_x.py::test_y[1]"}, failed={"tests/gateway/test_x.py::test_y[1]": ""}),
            FAILED,
        ),
        (Results(unable={"tests/gateway/test_x.py::test_y": ""}), NO_PROOF),
        (Results(ran={"tests/gateway/test_x.py::test_yes"}), NO_PROOF),
        (Results(), NO_PROOF),
    ],
)
def test_only_a_test_that_ran_says_something(results: Results, outcome: int) -> None:
    """A gateway that does not start has not failed its check."""
    assert results.of(SOME) == outcome


def test_a_line_that_is_not_there_is_no_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("b b")
    monkeypatch.setattr(gateway, "SOURCE", tmp_path)

    with pytest.raises(SystemExit, match="2 times"), verify.broken_copy(SOME):
        pass
