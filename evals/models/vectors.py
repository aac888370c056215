"""Vectors of a set by one model, kept on disk: to make them takes minutes, to compare them seconds."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.models.passages import PassageSet
from evals.models.variants import Model, Variant
from services.common.embedding.sentence_vectors import late_vectors
from services.common.vectors import Vector

KEPT = Path(__file__).resolve().parents[2] / "build" / "models"

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Vectors:
    """Rows of length one, and the CPU time that each pass took."""

    passages: Vector
    late: Vector
    """A row per sentence, from the passage's pass."""
    owners: NDArray[np.int64]
    """The passage of each sentence."""
    questions: Vector
    passage_ms: NDArray[np.float64]
    question_ms: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Separate:
    """Vectors of the same sentences, each embedded alone."""

    rows: Vector
    sentence_ms: NDArray[np.float64]


def vectors(cut: PassageSet, made: Variant) -> Vectors:
    """Return the vectors of passages, sentences and questions, one text at a time."""
    texts = [*cut.passages, *(question.text for question in cut.questions)]
    return Vectors(**_kept(_place(cut, made, "late", texts), lambda: _make(cut, made)))


def separate(cut: PassageSet, made: Variant) -> Separate:
    """Return the vectors of the sentences, each from a pass of its own."""
    texts = [made.passage + text for text in _sentences(cut)]
    return Separate(**_kept(_place(cut, made, "separate", texts), lambda: _make_separate(texts, made)))


def _make(cut: PassageSet, made: Variant) -> dict[str, NDArray[Any]]:
    model = Model(made)
    rows, late, owners, passage_ms = [], [], [], []
    before = len(made.passage)
    for number, (text, spans) in enumerate(zip(cut.passages, cut.sentences, strict=True)):
        began = time.thread_time()
        encoding = model.encode(made.passage + text)
        states = model.states([encoding])[0]
        rows.append(model.pooled(states))
        passage_ms.append((time.thread_time() - began) * 1000)
        words = np.flatnonzero(np.array(encoding.special_tokens_mask) == 0)
        starts = np.array([start for start, _ in encoding.offsets], dtype=np.int64)[words]
        late.append(late_vectors(states[words], starts, [(start + before, end + before) for start, end in spans]))
        owners += [number] * len(spans)
    questions, question_ms = _timed([made.question + question.text for question in cut.questions], model)
    return {
        "passages": np.array(rows),
        "late": np.concatenate(late),
        "owners": np.array(owners, dtype=np.int64),
        "questions": questions,
        "passage_ms": np.array(passage_ms),
        "question_ms": question_ms,
    }


def _make_separate(texts: Sequence[str], made: Variant) -> dict[str, NDArray[Any]]:
    rows, sentence_ms = _timed(texts, Model(made))
    return {"rows": rows, "sentence_ms": sentence_ms}


def _timed(texts: Sequence[str], model: Model) -> tuple[Vector, NDArray[np.float64]]:
    rows, took = [], []
    for text in texts:
        began = time.thread_time()
        rows.append(model.embed(text))
        took.append((time.thread_time() - began) * 1000)
    return np.array(rows), np.array(took)


def _sentences(cut: PassageSet) -> list[str]:
    pairs = zip(cut.passages, cut.sentences, strict=True)
    return [text[start:end].strip() for text, spans in pairs for start, end in spans]


def _place(cut: PassageSet, made: Variant, kind: str, texts: Sequence[str]) -> Path:
    """Return where vectors are kept, under the digest of everything that they depend on."""
    onnx = made.onnx.read_bytes() if isinstance(made.onnx, Path) else made.onnx
    digest = hashlib.sha256(onnx + repr((_VERSION, texts, cut.sentences, repr(made))).encode()).hexdigest()
    return KEPT / f"{cut.name}-{made.name}-{kind}-{digest[:12]}.npz"


def _kept(place: Path, make: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = make()
        partial = place.with_suffix(".partial.npz")
        np.savez(partial, allow_pickle=False, **made)
        partial.rename(place)
    with np.load(place) as stored:
        return dict(stored)
