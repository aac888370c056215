"""Question sets on disk: a corpus, the questions about it, and their gold answers (`../shared/data/README.md`, qa/)."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"


class DataError(Exception):
    """A folder is not a question set; the message says which line is wrong and what it should hold."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a corpus; `title` may be empty."""

    doc_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question; answerable exactly when it has gold documents."""

    qid: str
    question: str
    answers: tuple[str, ...]
    relevant: tuple[str, ...]
    answerable: bool
    is_long: bool
    """The gold answer is prose to be compared by meaning, not a span to be found."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A corpus and its questions, all in one language."""

    name: str
    lang: str
    folder: Path
    documents: Mapping[str, Document] = field(repr=False)
    queries: Sequence[Query] = field(repr=False)

    def cluster(self, relevant: Sequence[str], qid: str) -> str:
        """Return what a question shares its luck with: the title of its first gold document, else only itself."""
        document = self.documents.get(relevant[0]) if relevant else None
        return (document.title or document.doc_id) if document else qid


def load_all(folder: Path) -> list[QuestionSet]:
    """Return the set in `folder`, or those in its sub-folders, by name; raise DataError when there is none."""
    if (folder / CORPUS).is_file():
        return [load(folder)]
    if not folder.is_dir():
        raise DataError(
            f"{folder} is not there; name a folder with {CORPUS} and {QUERIES}, or a folder of such folders."
        )
    found = [load(path) for path in sorted(folder.iterdir()) if (path / CORPUS).is_file()]
    if not found:
        raise DataError(f"{folder} holds no question set: neither {CORPUS} nor a sub-folder with one.")
    return found


def load(folder: Path) -> QuestionSet:
    """Return one set; raise DataError when a file, a field or a gold document is missing."""
    texts, questions = list(_rows(folder / CORPUS)), list(_rows(folder / QUERIES))
    documents = {document.doc_id: document for document in map(_document, texts)}
    queries = [_query(row) for row in questions]
    if not documents or not queries:
        raise DataError(f"{folder} holds no document or no question.")
    for query in queries:
        if lost := [doc_id for doc_id in query.relevant if doc_id not in documents]:
            raise DataError(f"{folder / QUERIES}: question {query.qid} names documents that are not there: {lost[:3]}.")
    lang = texts[0].get("lang") or questions[0].get("lang") or "en"
    return QuestionSet(folder.resolve().name, str(lang), folder, documents, queries)


def sample(full: QuestionSet, titles: int, questions: int) -> QuestionSet:
    """Return a smaller set: `titles` titles with all their documents, and at most `questions` of either kind.

    Which ones depends on their ids alone, so that the same data give the same sample everywhere.
    """
    names = sorted({document.title for document in full.documents.values()}, key=order)[:titles]
    kept = {doc_id: document for doc_id, document in full.documents.items() if document.title in names}
    queries = sorted(full.queries, key=lambda query: order(query.qid))
    answerable = [query for query in queries if query.answerable and all(gold in kept for gold in query.relevant)]
    unanswerable = [query for query in queries if not query.answerable]
    return replace(full, documents=kept, queries=answerable[:questions] + unanswerable[:questions])


def digest(folder: Path) -> str:
    """Return what tells one state of a set's files from another: the first 12 digits of a SHA-256."""
    return hashlib.sha256((folder / CORPUS).read_bytes() + (folder / QUERIES).read_bytes()).hexdigest()[:12]


def order(text: str) -> str:
    """Return a sort key that shuffles names the same way everywhere."""
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        # A line ends at \n alone: texts may hold form feeds and other ends of line.
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise DataError(f"{path}, line {number}, is not JSON: {error}.") from error


def _document(row: Mapping[str, Any]) -> Document:
    try:
        return Document(str(row["doc_id"]), str(row.get("title") or ""), str(row["text"]))
    except KeyError as error:
        raise DataError(f"A document lacks {error}: each line needs doc_id and text.") from error


def _query(row: Mapping[str, Any]) -> Query:
    try:
        relevant = tuple(row.get("relevant_doc_ids") or ())
        return Query(
            qid=str(row["qid"]),
            question=str(row["question"]),
            answers=tuple(row.get("answers") or ()),
            relevant=relevant,
            answerable=bool(relevant) and bool(row.get("answerable", True)),
            is_long=row.get("answer_type") == "long",
        )
    except KeyError as error:
        raise DataError(f"A question lacks {error}: each line needs qid and question.") from error
