import json
from pathlib import Path

import pytest

from evals.questions import DataError, digest, load, load_all, sample
from tests.unit.evals.made import DOCUMENTS, QUERIES, write_set


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(tmp_path / "cities", DOCUMENTS, QUERIES)


def test_a_set_is_read_whole(folder: Path) -> None:
    found = load(folder)

    assert (found.name, found.lang, len(found.documents)) == ("cities", "en", 3)
    assert [query.answerable for query in found.queries] == [True, True, False]
    assert found.documents["b1"].text == DOCUMENTS[0]["text"]


def test_a_folder_of_sets_gives_them_by_name(folder: Path) -> None:
    write_set(folder.parent / "ays", DOCUMENTS, QUERIES)
    (folder.parent / "notes").mkdir()

    assert [found.name for found in load_all(folder.parent)] == ["ays", "cities"]
    assert [found.name for found in load_all(folder)] == ["cities"]


def test_a_stranger_needs_the_least_fields_only(tmp_path: Path) -> None:
    bare = write_set(tmp_path / "mine", [{"doc_id": "1", "text": "x"}], [{"qid": "a", "question": "x?"}])
    found = load(bare)

    assert (found.lang, found.documents["1"].title, found.queries[0].answerable) == ("en", "", False)


@pytest.mark.parametrize(
    ("documents", "queries", "told"),
    [
        ([{"text": "x"}], QUERIES, "doc_id"),
        (DOCUMENTS, [{"question": "x?"}], "qid"),
        (DOCUMENTS, [{"qid": "a", "question": "x?", "relevant_doc_ids": ["gone"]}], "gone"),
        ([], QUERIES, "no document"),
    ],
)
def test_what_is_wrong_with_a_set_is_told(
    tmp_path: Path, documents: list[dict[str, object]], queries: list[dict[str, object]], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        load(write_set(tmp_path / "mine", documents, queries))


def test_a_broken_line_is_told_by_its_number(folder: Path) -> None:
    with (folder / "corpus.jsonl").open("a") as file:
        file.write("{\n")

    with pytest.raises(DataError, match="line 4"):
        load(folder)


@pytest.mark.parametrize("name", ["nowhere", ""])
def test_a_folder_without_sets_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"corpus\.jsonl"):
        load_all(tmp_path / name)


def test_a_sample_holds_whole_titles_and_only_questions_about_them(folder: Path) -> None:
    found = sample(load(folder), titles=1, questions=5)
    titles = {document.title for document in found.documents.values()}

    assert len(titles) == 1
    assert len(found.documents) == (2 if titles == {"Berlin"} else 1)
    assert all(gold in found.documents for query in found.queries for gold in query.relevant)
    assert [query.qid for query in found.queries if not query.answerable] == ["q3"]


def test_a_sample_depends_on_the_ids_alone(tmp_path: Path) -> None:
    one = write_set(tmp_path / "one", DOCUMENTS, QUERIES)
    other = write_set(tmp_path / "other", DOCUMENTS[::-1], QUERIES[::-1])

    assert sample(load(one), 1, 1).documents == sample(load(other), 1, 1).documents


def test_another_state_of_the_files_has_another_digest(folder: Path) -> None:
    before = digest(folder)
    with (folder / "queries.jsonl").open("a") as file:
        file.write(json.dumps(QUERIES[0]) + "\n")

    assert digest(folder) != before


def test_a_question_shares_its_luck_with_the_title_of_its_gold(folder: Path) -> None:
    found = load(folder)

    assert found.cluster(["b2"], "q9") == "Berlin"
    assert found.cluster([], "q9") == "q9"
