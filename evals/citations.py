"""Checks from outside what the service promises: every `[n]` opens the words that it backs."""

import re

from attest.answer.v1 import answer_service_pb2 as pb

_MARKER = re.compile(r"\[(\d+)\]")


def faults(response: pb.AnswerResponse) -> tuple[str, ...]:
    """Return what is wrong with an `ANSWERED` response, one name a kind; empty when all is well."""
    sources = {source.n: source.content for source in response.sources}
    found = set[str]()
    if any(int(n) not in sources for n in _MARKER.findall(_without_quotes(response))):
        found.add("marker-without-source")
    if not response.sentences:
        found.add("no-sentence")
    for sentence in response.sentences:
        found |= _sentence_faults(sentence, sources)
    return tuple(sorted(found))


def _sentence_faults(sentence: pb.Sentence, sources: dict[int, str]) -> set[str]:
    found = set[str]()
    if not sentence.citations:
        found.add("sentence-without-citation")
    if any(n not in sources for n in sentence.citations):
        found.add("citation-without-source")
    if not sentence.support:
        found.add("sentence-without-support")
    for span in sentence.support:
        text = sources.get(span.n, "")[span.char_start : span.char_end]
        if span.n not in sentence.citations or _folded(text) != _folded(sentence.text):
            found.add("support-not-verbatim")
    return found


def _without_quotes(response: pb.AnswerResponse) -> str:
    """Return the answer without its sentences, whose own text may hold a `[7]` of the document's."""
    rest: str = response.answer
    for sentence in response.sentences:
        rest = rest.replace(sentence.text, " ", 1)
    return rest


def _folded(text: str) -> str:
    return " ".join(text.split())
