"""The default generator: quotes the sentences that answer best, and invents nothing."""

from collections.abc import Iterable, Sequence

from services.answer.model import Draft, DraftSentence, Sources
from services.answer.scoring import Candidate, score
from services.answer.sentences import SentenceKind, split

NAME = "extractive"
MAX_CANDIDATES = 2_000
"""Sentences of all passages together that are weighed."""


class ExtractiveGenerator:
    """Picks verbatim sentences by the words that they share with the question; the same input gives the same draft."""

    def __init__(self, ratio: float = 0.85, max_sentences: int = 3) -> None:
        """Take what share of the best score a further sentence needs, and how many sentences are picked at most."""
        self._ratio = ratio
        self._max_sentences = max_sentences

    async def generate(self, question_text: str, sources: Sources) -> Draft:
        """Return up to three sentences, each cited by the source that it stands in; none when no source holds any."""
        candidates = _candidates(sources)
        picked = self._pick(candidates, score(question_text, candidates))
        return Draft(tuple(DraftSentence(c.sentence.text, (c.n,)) for c in picked), NAME)

    def _pick(self, candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
        order = sorted(range(len(candidates)), key=lambda i: (-scores[i], i))
        picked: list[Candidate] = []
        for i in order:
            if scores[i] < self._ratio * scores[order[0]] or len(picked) == self._max_sentences:
                break
            if all(candidates[i].sentence.text != other.sentence.text for other in picked):
                picked.append(candidates[i])
        return _reading_order(picked)


def _candidates(sources: Sources) -> list[Candidate]:
    every = [Candidate(n, sentence, passage) for n, passage in sources.items() for sentence in split(passage.content)]
    prose = [candidate for candidate in every if candidate.sentence.kind is not SentenceKind.CODE]
    statements = [candidate for candidate in prose if not _asks(candidate.sentence.text)]
    return (statements or prose or every)[:MAX_CANDIDATES]


def _asks(text: str) -> bool:
    """Say whether a sentence is a question: it shares most words with the one asked, and answers none."""
    return text.rstrip("*_`~)\"'\u201d\u2019 ").endswith(("?", "\uff1f", "\u061f"))


def _reading_order(picked: Iterable[Candidate]) -> list[Candidate]:
    """Keep the source of the best sentence first, and the sentences of a source as they stand in it."""
    by_source: dict[int, list[Candidate]] = {}
    for candidate in picked:
        by_source.setdefault(candidate.n, []).append(candidate)
    return [c for group in by_source.values() for c in sorted(group, key=lambda c: c.sentence.start)]
