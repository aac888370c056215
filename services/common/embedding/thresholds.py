"""Thresholds of similarity that belong to an embedding model."""

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("thresholds.json")
"""Thresholds by model; `python -m evals threshold --save` writes them from measured scores.

That of text-embedding-3-small was not measured here: 0.5 is what the console that Attest grew from used with it."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosine similarities, -1 to 1, that fit the vectors of one model."""

    min_similarity: float
    """Below it a search drops a passage."""
    gate_start: float
    """When the closest passage is below it, nothing is answered."""


UNMEASURED = Thresholds(min_similarity=0.0, gate_start=0.0)
"""For a model that nobody measured: nothing similar is dropped, until `evals threshold` has set a space's own."""


def thresholds_of(model: str, file: Path = FILE) -> Thresholds:
    """Return the thresholds that a new space of the model begins with."""
    known = json.loads(file.read_text(encoding="utf-8"))
    return Thresholds(**known[model]) if model in known else UNMEASURED
