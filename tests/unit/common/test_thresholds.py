import json
from pathlib import Path

from services.common.embedding.files import packaged_minilm
from services.common.embedding.thresholds import FILE, UNMEASURED, Thresholds, thresholds_of


def test_the_packaged_model_has_thresholds() -> None:
    assert thresholds_of(packaged_minilm().name) != UNMEASURED


def test_every_threshold_is_a_cosine_and_no_filter_stands_above_its_gate() -> None:
    for model in json.loads(FILE.read_text(encoding="utf-8")):
        known = thresholds_of(model)
        assert -1 <= known.min_similarity <= known.gate_start <= 1


def test_a_model_that_nobody_measured_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "thresholds.json"
    file.write_text('{"mine": {"min_similarity": 0.1, "gate_start": 0.2}}')

    assert thresholds_of("mine", file) == Thresholds(0.1, 0.2)
    assert thresholds_of("another", file) == UNMEASURED


def test_the_thresholds_of_the_packaged_model_are_those_of_the_report() -> None:
    """Run: make eval, python -m evals threshold --save."""
    report = json.loads((Path(__file__).parents[3] / "docs" / "quality.json").read_text(encoding="utf-8"))["thresholds"]

    assert thresholds_of(report["model"]) == Thresholds(report["chunk_filter"], report["gate_start"])
