"""Proves the gateway line by line: `gateway/verify.sh`; with --broken, that each proof notices when its line is wrong.

A check of gateway/checks.toml names a line of the gateway's sources, the test that proves it, and a wrong line to put
in its place. The tests are those of this folder, on a real Envoy in front of scripted services: nothing is proven
twice, and a check that no test would miss cannot be written down.
"""

import argparse
import importlib
import multiprocessing
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree

import pytest

from services.cli.stack import gateway

FOLDER = Path(__file__).resolve().parent
TABLE = gateway.SOURCE / "checks.toml"
PASSED, FAILED, NO_PROOF = 0, 1, 2
"""Exit codes of a run: all held; a check failed; a test could not run, which proves nothing either way."""
QUIET = ("-p", "no:terminal", "-p", "no:cacheprovider", f"--rootdir={FOLDER.parents[1]}")
ALL = ("-o", "addopts=--import-mode=importlib")
UNTIL_ONE_FAILS = ("-o", "addopts=--import-mode=importlib --maxfail=1")
FORK = multiprocessing.get_context("fork")
LANES = 2
RUN_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the gateway and what proves it."""

    name: str
    file: str
    line: str
    broken: str
    test: str

    @property
    def node(self) -> str:
        """Return the test's address for pytest."""
        return f"{FOLDER}/{self.test}"

    def covers(self, node_id: str) -> bool:
        """Tell whether a test that ran, or one of its parameters, is this check's."""
        ran = node_id.rpartition("tests/gateway/")[2]
        return ran == self.test or ran.startswith(f"{self.test}[")


@dataclass(eq=False)
class Results:
    """What pytest found, by test."""

    ran: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    unable: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test did; only a failure of the test itself says something about the gateway."""
        if report.when == "call":
            self.ran.add(report.nodeid)
        if report.failed:
            (self.failed if report.when == "call" else self.unable)[report.nodeid] = report.longreprtext

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be read."""
        if report.failed:
            self.unable[report.nodeid] = report.longreprtext

    def of(self, check: Check) -> int:
        """Return how a check went."""
        if any(check.covers(node) for node in self.failed):
            return FAILED
        held = any(check.covers(node) for node in self.ran) and not any(check.covers(node) for node in self.unable)
        return PASSED if held else NO_PROOF


def read_checks() -> list[Check]:
    """Read the table."""
    with TABLE.open("rb") as file:
        return [Check(**entry) for entry in tomllib.load(file)["check"]]


def verify(checks: Sequence[Check], source: Path | None = None) -> int:
    """Run the checks on the gateway, or on a copy of its sources; print a line for each and return an exit code."""
    gateway.SOURCE = source or gateway.SOURCE
    results = Results()
    nodes = sorted({check.node for check in checks})
    pytest.main([*QUIET, *(UNTIL_ONE_FAILS if source else ALL), *nodes], [results])
    words = {PASSED: "ok", FAILED: "FAILED", NO_PROOF: "NOT RUN"}
    for check in checks:
        say(f"{words[results.of(check)]:<8}{check.name}")
    for node, text in {**results.failed, **results.unable}.items():
        sys.stderr.write(f"\n{node}\n{text}\n")
    return max(results.of(check) for check in checks)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def broken_copy(check: Check) -> Iterator[Path]:
    """Lend a copy of the gateway's sources in which the check's line is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(copytree(gateway.SOURCE, Path(folder) / "gateway"))
        text = (copy / check.file).read_text(encoding="utf-8")
        if text.count(check.line) != 1:
            raise SystemExit(f"{check.name}: its line stands {text.count(check.line)} times in {check.file}, not once")
        (copy / check.file).write_text(text.replace(check.line, check.broken), encoding="utf-8")
        yield copy


def seen_failing(check: Check) -> bool:
    """Run a check on a copy in which its line is wrong; print whether it failed, and what was said if it did not."""
    with broken_copy(check) as copy, tempfile.TemporaryFile("w+") as output:
        worker = FORK.Process(target=_verify_apart, args=(check, copy, output.fileno()))
        worker.start()
        worker.join(RUN_SECONDS)
        if worker.is_alive():
            worker.terminate()
            worker.join()
        seen = worker.exitcode == FAILED
        say(f"{'seen' if seen else 'NOT SEEN':<10}{check.name}")
        if not seen:
            output.seek(0)
            sys.stderr.write(output.read())
    return seen


def verify_broken(checks: Sequence[Check]) -> int:
    """Break the line of each check and see the check fail; print a line for each and return an exit code."""
    importlib.import_module("tests.gateway.envoy")  # a fork need not import it again; it has not read SOURCE
    lanes = [FORK.Process(target=_see_all, args=(checks[at::LANES],)) for at in range(min(LANES, len(checks)))]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    return int(any(lane.exitcode for lane in lanes))


def _see_all(checks: Sequence[Check]) -> None:
    unseen = [check for check in checks if not seen_failing(check)]
    sys.exit(int(bool(unseen)))


def _verify_apart(check: Check, source: Path, output: int) -> None:
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    sys.exit(verify([check], source))


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Prove the gateway line by line.")
    parser.add_argument("--broken", action="store_true", help="break the line of each check and see the check fail")
    parser.add_argument("--only", action="append", metavar="NAME", help="run this check alone; can be given again")
    parser.add_argument("--source", type=Path, help="folder of the gateway's sources")
    arguments = parser.parse_args()
    checks = [check for check in read_checks() if not arguments.only or check.name in arguments.only]
    if not checks:
        parser.error("no check has that name")
    return verify_broken(checks) if arguments.broken else verify(checks, arguments.source)


if __name__ == "__main__":
    sys.exit(main())
