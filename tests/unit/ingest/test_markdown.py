"""The block structure of Markdown, and the search text of its blocks."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.common.text import search_text
from services.ingest.blocks import Kind
from services.ingest.markup import inline_text
from services.ingest.readers import ReadDocument, read_document


def read(content: str) -> ReadDocument:
    return read_document(content, "text/markdown", "a.md", None)


def found(content: str) -> list[tuple[Kind, str]]:
    document = read(content)
    return [(block.kind, document.text[block.start : block.end]) for block in document.structure.blocks]


def searched(content: str) -> str:
    document = read(content)
    return "|".join(document.search(block, block.start, block.end) for block in document.structure.blocks)


def headings(content: str) -> list[tuple[str, ...]]:
    return [block.path for block in read(content).structure.blocks if block.kind is Kind.HEADING]


@pytest.mark.parametrize(
    "code",
    [
        "```\n# not a heading\n```",
        "```python title=x\n# not a heading\n```",
        "~~~\n# not a heading\n```\n# nor this\n~~~",
        "````\n```\n# not a heading\n```\n````",
        "```\n# not a heading\n~~~\n# nor this\n```````",
        "   ```\n   # not a heading\n   ```",
        "    # not a heading\n    # nor this",
        "```\n\n# not a heading\n\n\n# nor this\n```",
        "``` \n# never closed\n\n# still code",
        "- item\n\n  ```\n  # not a heading\n  ```",
        "> ```\n> # not a heading\n> ```",
        "1. a\n   ~~~ sh\n   # not a heading\n   ~~~",
        "<!--\n# not a heading\n\n# nor this\n-->",
        "<pre>\n# not a heading\n\n# nor this\n</pre>",
    ],
)
def test_a_hash_inside_code_is_no_heading(code: str) -> None:
    """F89: tilde fences, info strings, longer, nested, indented and unclosed fences."""
    assert headings(f"{code}") == []


@pytest.mark.parametrize(
    "content",
    [
        "```\ncode\n```\n# Heading",
        "```\ncode\n````\n# Heading",
        "~~~\ncode\n~~~\n\n# Heading",
        "para ``` not a fence\n# Heading",
        "- ```\n  code\n# Heading",
        "> ```\n> code\n# Heading",
        "``` a`b\n# Heading",
        "<div>\n\n# Heading",
        "Heading\n=======",
        "# Heading #",
    ],
)
def test_a_heading_outside_code_is_one(content: str) -> None:
    """F89: what ends a fence, and what only looks like one."""
    assert headings(content) == [("Heading",)]


def test_headings_make_a_path() -> None:
    assert headings("# A\n## B\n### C\n## D\n#### E\n# F") == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        ("A", "D", "E"),
        ("F",),
    ]


def test_a_heading_is_named_without_its_marks() -> None:
    assert headings("# The **`x`** [link](http://a/b) &amp; *more*") == [("The x link & more",)]


def test_a_heading_in_a_quote_or_a_list_opens_no_section() -> None:
    assert headings("> # Quoted\n\n- # Listed") == []


def test_an_endless_heading_is_prose() -> None:
    assert found("# " + "long " * 100)[0][0] is Kind.PROSE


def test_blocks_are_spans_of_whole_lines() -> None:
    assert found(
        "# T\n\npara\nmore\n\n- a\n  - b\n\n```sh\nx\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n<p>h</p>\n\n    code\n"
    ) == [
        (Kind.HEADING, "# T"),
        (Kind.PROSE, "para\nmore"),
        (Kind.PROSE, "- a"),
        (Kind.PROSE, "  - b"),
        (Kind.CODE, "```sh\nx\n```"),
        (Kind.TABLE, "|a|b|\n|-|-|\n|1|2|"),
        (Kind.HTML, "<p>h</p>"),
        (Kind.CODE, "    code"),
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("some *em*, **strong**, ~~gone~~ and `code *x*`", "some em, strong, gone and code *x*"),
        ("a [link](http://x.y/z_(a) 'title') and <http://auto.link>", "a link and http://auto.link"),
        ("see [the page][ref], [ref] and [none]\n\n[ref]: http://x.y", "see the page, ref and [none]"),
        ("![what is shown](a.png) ![](b.png)", "what is shown"),
        ("a<!-- hidden -->b <b>bold</b> <br/>c", "ab bold c"),
        ("one\ntwo  \nthree\\\nfour", "one two three four"),
        ("snake_case_name 2 * 3 * 4 \\*not em\\* &lt;tag&gt;", "snake_case_name 2 * 3 * 4 *not em* <tag>"),
        ("- [x] done\n- [ ] open\n1. first\n* star", "done|open|first|star"),
        ("> quoted\n> lines\nlazy", "quoted lines lazy"),
        ("- outer\n  1. > deep", "outer|deep"),
        ("```python\nx = '# y'\n```", "x = '# y'"),
        ("|a|b|\n|:-|-:|\n|**1**|x\\|y|", "a b 1 x|y"),
        ("<div>\n<h2>Title</h2><!-- no -->\n<script>let x</script>text &amp; more\n</div>", "Title text & more"),
        ("***\n\n---\n\n___", ""),
        ("the \ufb01le infor\u00admation", "the file information"),
    ],
)
def test_search_text_is_what_a_reader_of_the_page_sees(content: str, text: str) -> None:
    assert searched(content) == text


def test_what_is_nested_too_deep_for_the_parser_is_still_text() -> None:
    assert "deep word" in searched("> " * 200 + "deep word")
    assert "deep word" in searched("- " * 200 + "deep word")
    assert searched("> " * 200) == ""


@example("infor- \n mation")
@settings(deadline=None)
@given(st.text(st.sampled_from("ab é-\u00ad\u2010>#.1!]) \t\n漢")))
def test_text_without_markup_is_read_as_the_parser_reads_it(raw: str) -> None:
    parsed = inline_text(raw + "\n<b>", {})

    assert search_text(inline_text(raw, {})) == search_text(parsed)


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("---\ntitle: The \u202ecup\n---\n# Other", "The cup"),
        ("---\ntitle: \u200b\n---\n# Other", "Other"),
        ("text", "a.md"),
    ],
)
def test_the_title_is_the_first_that_can_be_seen(content: str, title: str) -> None:
    assert read(content).title == title
