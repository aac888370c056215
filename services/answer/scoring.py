"""How well a sentence answers a question, from the words alone and the rank of its passage."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from services.answer.answer_types import cue
from services.answer.model import Passage
from services.answer.sentences import Sentence
from services.answer.words import Stemmer, tokens

# Compared on XQuAD-en (dense top 5) and on the example handbook; neither was held back, so both flatter.
SENTENCE_WEIGHT = 0.8
SURROUNDINGS_WEIGHT = 0.6
PASSAGE_WEIGHT = 0.3
SIMILARITY_WEIGHT = 0.6
RANK_WEIGHT = 0.3
TYPE_BONUS = 0.35
SHORT_PENALTY = 0.3
SHORT_WORDS = 4
PARTIAL_CREDIT = 0.6
"""Credit of a word that begins with the asked one, or the reverse: "approval" for "approve"."""
PARTIAL_LETTERS = 5
"""Letters that the shorter of two such words has at least."""

Credits: TypeAlias = Mapping[str, Mapping[str, float]]
"""For each stem of the question the stems that count for it, and how much, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be quoted, and the numbered passage that it stands in."""

    n: int
    sentence: Sentence
    passage: Passage


def score(question: str, candidates: Sequence[Candidate]) -> list[float]:
    """Return one score per candidate, in order; higher is better, and equal input gives equal scores."""
    stems = Stemmer()
    own = [frozenset(stems(c.sentence.text)) for c in candidates]
    around = [words | frozenset(stems(_surroundings(c))) for words, c in zip(own, candidates, strict=True)]
    whole = _by_passage(candidates, around)
    weights = _weights(stems(question), own)
    counting = _credits(weights, set().union(*around))
    passages = {n: _coverage(words, weights, counting) for n, words in whole.items()}
    expected = cue(question)
    return [
        SENTENCE_WEIGHT * _coverage(own[i], weights, counting)
        + SURROUNDINGS_WEIGHT * _coverage(around[i], weights, counting)
        + PASSAGE_WEIGHT * passages[c.n]
        + _prior(c)
        + (TYPE_BONUS if expected is not None and expected.search(c.sentence.text) else 0.0)
        for i, c in enumerate(candidates)
    ]


def _prior(candidate: Candidate) -> float:
    """Return what speaks for a sentence whatever was asked: where its passage stands, and that it is not a scrap."""
    similarity = candidate.passage.similarity
    return (
        SIMILARITY_WEIGHT * (similarity if math.isfinite(similarity) else 0.0)
        + RANK_WEIGHT / candidate.n
        - (SHORT_PENALTY if len(tokens(candidate.sentence.text)) < SHORT_WORDS else 0.0)
    )


def _by_passage(candidates: Sequence[Candidate], words: Sequence[frozenset[str]]) -> dict[int, frozenset[str]]:
    whole: dict[int, frozenset[str]] = {}
    for candidate, own in zip(candidates, words, strict=True):
        whole[candidate.n] = whole.get(candidate.n, frozenset()) | own
    return whole


def _surroundings(candidate: Candidate) -> str:
    return " ".join((candidate.passage.source, *candidate.passage.heading_path, candidate.sentence.context))


def _weights(asked: Iterable[str], sentences: Sequence[Collection[str]]) -> dict[str, float]:
    """Weigh each stem of the question by how few sentences hold it, and a little by its length."""
    weights = {}
    for word in dict.fromkeys(asked):
        holding = sum(word in sentence for sentence in sentences)
        weights[word] = math.log(1 + (len(sentences) + 1) / (holding + 0.5)) + 0.08 * min(len(word), 10)
    return weights


def _credits(asked: Iterable[str], vocabulary: Iterable[str]) -> Credits:
    by_head: dict[str, list[str]] = {}
    for word in vocabulary:
        by_head.setdefault(word[:PARTIAL_LETTERS], []).append(word)
    return {wanted: _related(wanted, by_head.get(wanted[:PARTIAL_LETTERS], ())) for wanted in asked}


def _related(wanted: str, alike: Iterable[str]) -> dict[str, float]:
    """Return what counts for a word among those with the same first letters: itself, and longer or shorter forms."""
    return {
        word: 1.0 if word == wanted else PARTIAL_CREDIT
        for word in alike
        if word.startswith(wanted) or wanted.startswith(word)
    }


def _coverage(words: Collection[str], weights: Mapping[str, float], counting: Credits) -> float:
    """Return the share, 0 to 1, of the question's weight that the words cover."""
    whole = sum(weights.values())
    if not whole:
        return 0.0
    covered = sum(
        weight * max((credit for word, credit in counting[wanted].items() if word in words), default=0.0)
        for wanted, weight in weights.items()
    )
    return covered / whole
