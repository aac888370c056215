import time

import pytest
from hypothesis import given

from services.answer.sentences import SentenceKind, split
from tests.fakes.answer import MARKDOWN


def texts(markdown: str) -> list[str]:
    return [sentence.text for sentence in split(markdown)]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Wrapped\nover lines. And\n  on.", ["Wrapped over lines.", "And on."]),
        ("Tools, e.g. Git, i.e. Version control.", ["Tools, e.g. Git, i.e. Version control."]),
        ("Ask Dr. Smith or J. Doe. They know.", ["Ask Dr. Smith or J. Doe.", "They know."]),
        ("See No. 5 for it. No. Not that.", ["See No. 5 for it.", "No.", "Not that."]),
        ("Use v2.3.1 at 3.5 % or more. Then go.", ["Use v2.3.1 at 3.5 % or more.", "Then go."]),
        ("The U.S. Office is closed.", ["The U.S. Office is closed."]),
        ("It is so. and goes on.", ["It is so. and goes on."]),
        (
            "He said \u201cStop.\u201d Then (Really.) It went.",
            ["He said \u201cStop.\u201d", "Then (Really.)", "It went."],
        ),
        ("**Note.** Keep it. _Really._ Yes.", ["**Note.**", "Keep it.", "_Really._", "Yes."]),
        ("Run `stop. Start` now. Done.", ["Run `stop. Start` now.", "Done."]),
        ("Wait\u2026 What? Yes.", ["Wait\u2026", "What?", "Yes."]),
        ("\u4f60\u597d\u3002\u518d\u89c1\u3002", ["\u4f60\u597d\u3002", "\u518d\u89c1\u3002"]),
    ],
)
def test_prose_is_split_at_the_ends_of_sentences(markdown: str, expected: list[str]) -> None:
    assert texts(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# Heading\nText.", ["Text."]),
        ("Title\n=====\nText.", ["Text."]),
        ("Title\n---\nText.", ["Text."]),
        ("Text.\n\n---\n\nMore.", ["Text.", "More."]),
        ("- One\n- Two\n  goes on\n  - Three", ["One", "Two goes on", "Three"]),
        ("1. First\n2) Second", ["First", "Second"]),
        ("- [ ] Open\n- [x] Done", ["Open", "Done"]),
        ("> Quoted.\n> > Deeper.", ["Quoted.", "Deeper."]),
        ("> A quote that\n> is wrapped.", ["A quote that", "is wrapped."]),
        ("> A quote that\ngoes on lazily.", ["A quote that goes on lazily."]),
        ("> - Item in a quote", ["Item in a quote"]),
        (
            "| Grade | Days |\n|---|:-:|\n| Junior | 25 |\n| Senior | 28. Really. |",
            ["Junior | 25", "Senior | 28. Really."],
        ),
        ("<!-- ignore the above -->\nText.", ["Text."]),
        ("<!-- hidden\nover lines\n-->\nText.", ["Text."]),
        ("Text.\n\n[x]: https://a.example", ["Text."]),
        ("[^1]: A footnote says more.", ["[^1]: A footnote says more."]),
        ("!!! *** ---", []),
        ("", []),
    ],
)
def test_markers_of_blocks_belong_to_no_sentence(markdown: str, expected: list[str]) -> None:
    assert texts(markdown) == expected


def test_a_line_of_a_fence_is_code_and_a_comment_in_it_is_no_heading() -> None:
    """F89."""
    found = split("Run this:\n\n```sh\n# not a heading\nmake demo\n```\nDone.")

    assert [(s.text, s.kind) for s in found] == [
        ("Run this:", SentenceKind.PROSE),
        ("# not a heading", SentenceKind.CODE),
        ("make demo", SentenceKind.CODE),
        ("Done.", SentenceKind.PROSE),
    ]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    """F89."""
    assert [s.kind for s in split("````\n```\ncode\n```\n````\nText.")] == [
        SentenceKind.CODE,
        SentenceKind.PROSE,
    ]


def test_a_row_knows_the_header_of_its_table() -> None:
    [row] = split("| Grade | Days |\n|---|---|\n| Junior | 25 |")

    assert (row.context, row.kind) == ("Grade | Days", SentenceKind.ROW)


def test_a_sentence_knows_what_leads_up_to_it() -> None:
    assert [s.context for s in split("# Leave\nOne. Two.")] == ["Leave", "One."]


@given(MARKDOWN)
def test_a_sentence_is_its_span_with_white_space_collapsed(markdown: str) -> None:
    end = 0
    for sentence in split(markdown):
        assert end <= sentence.start < sentence.end
        assert " ".join(markdown[sentence.start : sentence.end].split()) == sentence.text
        assert sentence.text.strip() == sentence.text != ""
        end = sentence.end


def test_a_run_without_an_end_is_cut_at_white_space() -> None:
    found = split("word " * 1_000)

    assert max(len(sentence.text) for sentence in found) <= 1_000
    assert sum(len(sentence.text.split()) for sentence in found) == 1_000


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a. ",
        ".",
        "`",
        "```\n",
        "> ",
        "- ",
        "| ",
        "|-",
        "[",
        "<!--",
        "\n",
        " ",
        "A.",
        "#",
        "*",
        "1. ",
        "-->\n",
        "* * ",
    ],
)
def test_a_hostile_megabyte_is_split_in_no_time(unit: str) -> None:
    text = (unit * 1_000_000)[:1_000_000]
    started = time.process_time()

    split(text)

    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "text", ["Resturlaub verfällt am 31. März des Folgejahres.", "Der 3. Termin ist der letzte.", "Am 1. Mai ist frei."]
)
def test_an_ordinal_does_not_end_a_sentence(text: str) -> None:
    """Cut there, the quote is verbatim and says something else."""
    assert [sentence.text for sentence in split(text)] == [text]
