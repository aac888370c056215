"""Keeps what was measured, one file a set, so that a run that was stopped goes on where it was."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evals.outcome import Asked

_FACTS = ".facts.json"
_SETTINGS = "settings.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFacts:
    """A measured set: what it is, what became of its documents, and how long it took."""

    name: str
    lang: str
    digest: str
    """Tells the state of the set's files."""
    commit: str
    documents: int
    chunks: int
    refused: Mapping[str, str]
    """Reason of the refusal by document."""
    questions: int
    seconds: Mapping[str, float]
    """Time of each part of the measurement."""
    space: Mapping[str, Any]
    """The embedding space that was searched: its model and chunk filter."""
    together_chunks: int | None = None
    """Chunks of all sets of the language; None where that was not kept."""


class WorkFolder:
    """The folder of one run; `settings` are what must be the same for a run to go on."""

    def __init__(self, path: Path, settings: Mapping[str, Any], *, resume: bool) -> None:
        """Open the folder; without `resume`, or with other settings than before, it begins empty."""
        self._path = path
        described = path / _SETTINGS
        if not (
            resume and described.is_file() and json.loads(described.read_text()) == json.loads(json.dumps(settings))
        ):
            shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True, exist_ok=True)
        _replace(described, [settings])

    def has(self, name: str, digest: str) -> bool:
        """Tell whether the set was measured with these files."""
        facts = self._facts(name)
        return facts is not None and facts.digest == digest

    def save(self, facts: SetFacts, asked: Sequence[Asked]) -> None:
        """Keep a set whole or not at all."""
        _replace(self._path / f"{facts.name}.jsonl", [one.to_json() for one in asked])
        _replace(self._path / f"{facts.name}{_FACTS}", [asdict(facts)])

    def load(self, names: Iterable[str]) -> tuple[list[SetFacts], list[Asked]]:
        """Return those of the sets that were measured."""
        return measured(self._path, names)

    def _facts(self, name: str) -> SetFacts | None:
        path = self._path / f"{name}{_FACTS}"
        return SetFacts(**json.loads(path.read_text())) if path.is_file() else None


def settings(path: Path) -> dict[str, Any]:
    """Return the settings of the run that wrote into the folder; empty where none did."""
    described = path / _SETTINGS
    return dict(json.loads(described.read_text())) if described.is_file() else {}


def measured(path: Path, names: Iterable[str] | None = None) -> tuple[list[SetFacts], list[Asked]]:
    """Return the sets that a run wrote into its folder, all or those of `names`."""
    wanted = None if names is None else set(names)
    files = sorted(path.glob(f"*{_FACTS}"))
    facts = [SetFacts(**json.loads(file.read_text())) for file in files]
    kept = [one for one in facts if wanted is None or one.name in wanted]
    rows = [line for one in kept for line in (path / f"{one.name}.jsonl").read_text().split("\n") if line]
    return kept, [Asked.from_json(json.loads(line)) for line in rows]


def _replace(path: Path, rows: Iterable[Any]) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    temporary.replace(path)
