"""Reading a document as it was sent."""

import pytest

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.blocks import Kind
from services.ingest.readers import read_document


@pytest.mark.parametrize(
    ("given", "content", "source_url", "title"),
    [
        ("Given", "---\ntitle: Front\n---\n# H1", "a.md", "Given"),
        (None, "---\ntitle: Front\n---\n# H1", "a.md", "Front"),
        ("", "intro\n\n## H2\n\n# The *H1*", "a.md", "The H1"),
        (None, "no heading, ## H2", "https://x.y/docs/my%20page.md?q=1#z", "my page.md"),
        (None, "text", "https://x.y/", "https://x.y/"),
        (None, "text", "docs/leave/", "leave"),
    ],
)
def test_the_title_is_the_best_that_there_is(given: str | None, content: str, source_url: str, title: str) -> None:
    assert read_document(content, "text/markdown", source_url, given).title == title


def test_stored_text_has_one_line_end_and_no_mark_before_the_front_matter() -> None:
    document = read_document("\ufeff---\r\ntitle: T\r\nlang: en\r\n---\r\n# H\r\n", "text/markdown", "a.md", None)

    assert document.text == "---\ntitle: T\nlang: en\n---\n# H\n"
    assert document.metadata == {"title": "T", "lang": "en"}
    assert [block.kind for block in document.structure.blocks] == [Kind.HEADING]


def test_plain_text_is_paragraphs_and_has_no_markup() -> None:
    document = read_document("# one\n*two*\n \t\n\nthree\n", "text/plain", "notes/a.txt", None)
    blocks = document.structure.blocks

    assert document.title == "a.txt"
    assert [document.text[block.start : block.end] for block in blocks] == ["# one\n*two*\n", "three\n"]
    assert document.search(blocks[0], blocks[0].start, blocks[0].end) == "# one *two*"


def test_another_media_type_is_refused() -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        read_document("x", "text/html", "a.html", None)
    assert raised.value.reason is Reason.FIELD_INVALID


def test_markdown_of_too_many_blocks_is_read_as_plain_text_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.ingest.markdown._MOST_TOKENS", 100)
    document = read_document("---\na: b\n---\n# a\n" + "- b\n" * 30, "text/markdown", "a.md", None)

    assert [block.kind for block in document.structure.blocks] == [Kind.PLAIN]
    assert document.metadata == {"a": "b"}
    assert "read as plain text" in document.warnings[0]
