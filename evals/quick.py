"""The fixed sample that is measured on every change: small corpora, few questions, three shapes of text."""

from pathlib import Path

from evals.questions import QuestionSet, load, sample

_SAMPLES = {
    "xquad_en": (8, 120),
    "xquad_de": (5, 50),
    "covidqa_papers": (4, 40),
    "clapnq": (40, 40),
}
"""Titles and questions by set: short paragraphs in two languages, long papers, prose answers."""
SWAP = ("xquad_en",)
MOST_TRAPS = 40


def sets(folder: Path) -> list[QuestionSet]:
    """Return the sample of the sets in `folder`."""
    return [sample(load(folder / name), titles, questions) for name, (titles, questions) in _SAMPLES.items()]
