"""Ranks of gold passages by vectors and words, and what chance has to do with a difference."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.models.passages import PassageSet, Question
from services.common.vectors import Vector

Scores = NDArray[np.float32]
"""A row per question, a column per passage."""

_WORD = re.compile(r"\w+")
_RESAMPLES = 2_000


def by_passage(passages: Vector, questions: Vector) -> Scores:
    """Return the cosine of each question with each passage."""
    found: Scores = questions @ passages.T
    return found


def by_sentence(sentences: Vector, owners: NDArray[np.int64], questions: Vector, count: int) -> Scores:
    """Return the cosine of each question with the nearest sentence of each of `count` passages."""
    found = np.full((len(questions), count), -1, dtype=np.float32)
    for start in range(0, len(questions), 64):
        cosines = questions[start : start + 64] @ sentences.T
        for row, values in zip(found[start : start + 64], cosines, strict=True):
            np.maximum.at(row, owners, values)
    return found


def by_words(texts: Sequence[str], questions: Sequence[str]) -> Scores:
    """Return BM25 (k1 1.2, b 0.75) over casefolded words, in the form that Lucene gives it."""
    postings: dict[str, list[tuple[int, int]]] = {}
    lengths = np.zeros(len(texts))
    for number, text in enumerate(texts):
        words = _WORD.findall(text.casefold())
        lengths[number] = len(words)
        for word, times in Counter(words).items():
            postings.setdefault(word, []).append((number, times))
    norms = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    found = np.zeros((len(questions), len(texts)), dtype=np.float32)
    for row, question in zip(found, questions, strict=True):
        for word in set(_WORD.findall(question.casefold())):
            if held := postings.get(word):
                idf = math.log(1 + (len(texts) - len(held) + 0.5) / (len(held) + 0.5))
                numbers, times = np.array(held).T
                row[numbers] += idf * times / (times + norms[numbers])
    return found


def fused(*legs: Scores) -> Scores:
    """Return the sum of the legs, each question's scores at mean 0 and deviation 1."""
    total = np.zeros_like(legs[0])
    for leg in legs:
        deviations = leg.std(axis=1, keepdims=True)
        total += (leg - leg.mean(axis=1, keepdims=True)) / np.where(deviations > 0, deviations, 1)
    return total


def ranks(scores: Scores, questions: Sequence[Question]) -> NDArray[np.int64]:
    """Return the rank of the best gold passage of each question, 1 for the first; ties count against it."""
    found = []
    for row, question in zip(scores, questions, strict=True):
        gold = np.array(sorted(question.gold))
        best = row[gold].max()
        others = np.delete(row, gold)
        found.append(1 + int((others >= best).sum()))
    return np.array(found)


def measures(found: NDArray[np.int64]) -> Mapping[str, float]:
    """Return recall at 1 and 5 and the mean reciprocal rank."""
    return {"R@1": float((found == 1).mean()), "R@5": float((found <= 5).mean()), "MRR": float((1 / found).mean())}


@dataclass(frozen=True, slots=True)
class Difference:
    """Recall at 1 of one ranking less that of another on the same questions."""

    mean: float
    low: float
    high: float
    """95 % interval of the bootstrap over gold documents."""
    won: int
    lost: int
    p: float
    """Two-sided exact sign test over the questions that changed."""


def difference(one: NDArray[np.int64], other: NDArray[np.int64], cut: PassageSet, seed: int = 1) -> Difference:
    """Compare recall at 1; questions of one document are drawn together."""
    gain = (one == 1).astype(int) - (other == 1).astype(int)
    names = sorted({question.cluster for question in cut.questions})
    numbers = {name: number for number, name in enumerate(names)}
    cluster = np.array([numbers[question.cluster] for question in cut.questions])
    sums = np.bincount(cluster, weights=gain, minlength=len(names))
    sizes = np.bincount(cluster, minlength=len(names))
    drawn = np.random.default_rng(seed).integers(0, len(names), (_RESAMPLES, len(names)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    won, lost = int((gain > 0).sum()), int((gain < 0).sum())
    return Difference(float(gain.mean()), float(low), float(high), won, lost, sign_test(won, lost))


def sign_test(won: int, lost: int) -> float:
    """Return the two-sided exact p of so uneven a split if both sides were equally likely."""
    changed = won + lost
    tail: float = sum(math.comb(changed, times) for times in range(min(won, lost) + 1)) / 2**changed
    return min(1.0, 2 * tail)
