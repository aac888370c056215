"""Chunks of documents."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.embedding.encoder import Encoder
from services.common.embedding.files import packaged_minilm
from services.common.text import is_blank
from services.ingest.blocks import Kind
from services.ingest.chunking import chunk
from services.ingest.model import Chunk, Lane
from services.ingest.ports import TokenCounter
from services.ingest.readers import ReadDocument, read_document

PAGES = Path(__file__).parents[4] / "shared" / "data" / "markdown" / "files"


class Words:
    """Counts words and signs."""

    def count(self, text: str) -> int:
        return len(re.findall(r"\w{1,8}|[^\w\s]", text))


def lane(chunk_tokens: int = 40, overlap_tokens: int = 0) -> Lane:
    return Lane("default", "", chunk_tokens, overlap_tokens)


def read(content: str, media_type: str = "text/markdown", title: str | None = "T") -> ReadDocument:
    return read_document(content, media_type, "a.md", title)


def contents(content: str, chunk_tokens: int = 40, overlap_tokens: int = 0) -> list[str]:
    return [part.content for part in chunk(read(content), lane(chunk_tokens, overlap_tokens), Words())]


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def check(document: ReadDocument, chunks: list[Chunk], limit: int, tokens: TokenCounter) -> None:
    """Assert what is promised of all chunks of any document."""
    covered: set[int] = set()
    for ordinal, part in enumerate(chunks):
        assert part.ordinal == ordinal
        assert document.text[part.char_start : part.char_end] == part.content
        assert part.content.strip()
        assert part.content == part.content.rstrip()
        assert part.token_count == tokens.count(part.embedding_text) <= limit
        assert part.char_start not in covered or ordinal == 0 or part.char_end > chunks[ordinal - 1].char_end
        covered.update(range(part.char_start, part.char_end))
    starts = [(part.char_start, part.char_end) for part in chunks]
    assert starts == sorted(set(starts))
    for block in document.structure.blocks:
        if block.kind is not Kind.HEADING and not is_blank(document.search(block, block.start, block.end)):
            for at in range(block.start, block.end):
                assert at in covered or document.text[at].isspace()


# What one chunk holds.


def test_a_small_document_is_one_chunk_with_its_heading() -> None:
    (part,) = chunk(read("# Leave\n\nFive *weeks* a year.\n"), lane(), Words())

    assert part.content == "# Leave\n\nFive *weeks* a year."
    assert part.heading_path == ("Leave",)
    assert part.embedding_text == "T\nLeave\nFive weeks a year."
    assert (part.ordinal, part.page) == (0, None)


def test_a_title_that_is_the_heading_is_embedded_once() -> None:
    (part,) = chunk(read("# Leave\n\nFive weeks.", title=None), lane(), Words())

    assert part.embedding_text == "Leave\nFive weeks."


def test_a_large_section_starts_a_chunk() -> None:
    first, second = f"# A\n\n{words(50)}", f"# B\n\n{words(50, 'text')}"

    assert contents(f"{first}\n\n{second}", 60) == [first, second]


def test_small_sections_of_one_parent_share_a_chunk_under_what_they_have_in_common() -> None:
    (part,) = chunk(read("# A\n\n## B\n\nshort\n\n## C\n\nalso short"), lane(), Words())

    assert part.heading_path == ("A",)
    assert part.embedding_text == "T\nA\nB\nshort\nC\nalso short"


def test_a_heading_without_text_goes_with_what_follows() -> None:
    content = f"{words(50)}\n\n# A\n\n## B\n\n{words(50)}"
    part = chunk(read(content), lane(60), Words())[1]

    assert part.content.startswith("# A\n\n## B\n")
    assert part.heading_path == ("A", "B")


def test_a_heading_without_text_is_never_a_passage_of_its_own() -> None:
    (part,) = chunk(read("# A\n\n## B\n\n# C\n\ntext"), lane(), Words())

    assert part.content == "# A\n\n## B\n\n# C\n\ntext"
    assert part.heading_path == ("C",)


def test_a_small_section_does_not_join_one_of_another_parent() -> None:
    assert contents("# A\n\n## B\n\nshort\n\n# C\n\nalso short") == ["# A\n\n## B\n\nshort", "# C\n\nalso short"]


def test_a_chunk_never_ends_with_a_heading() -> None:
    content = f"# A\n\n{words(10)}\n\n## B\n\n{words(34)}"

    assert contents(content) == [f"# A\n\n{words(10)}", f"## B\n\n{words(34)}"]


def test_front_matter_and_what_is_never_seen_are_in_no_chunk() -> None:
    assert contents("---\nlang: en\n---\n\n<!-- hidden -->\n\ntext\n\n[a]: http://b.c\n") == ["text"]


@pytest.mark.parametrize(
    "content", ["", " \n\t\n", "---\ntitle: T\n---\n", "<!-- x -->", "***", "[a]: http://b.c", "```\n```"]
)
def test_a_document_without_text_has_no_chunk(content: str) -> None:
    assert contents(content) == []


def test_a_document_of_headings_alone_can_be_found() -> None:
    assert contents("# A\n\n## B\n") == ["# A\n\n## B"]


# What is cut, and where.


def test_paragraphs_stay_whole_where_they_fit() -> None:
    one, two = words(25), words(25, "text")

    assert contents(f"{one}\n\n{two}") == [one, two]


def test_a_long_paragraph_fills_a_nearly_empty_chunk_sentence_by_sentence() -> None:
    long = " ".join(["Nine words and a stop are in this one."] * 5)

    assert contents(f"Short.\n\n{long}")[0].startswith("Short.\n\nNine words")


def test_a_long_paragraph_is_cut_after_sentences() -> None:
    parts = contents(" ".join(["Nine words and a stop are in this one."] * 9))

    assert len(parts) > 1
    assert all(part.startswith("Nine") and part.endswith("one.") for part in parts)


def test_sentences_at_the_end_are_repeated_where_a_section_is_cut() -> None:
    parts = contents(" ".join(f"Sentence number {n} of the text is here." for n in range(12)), 40, 10)

    assert len(parts) > 2
    for before, after in pairwise(parts):
        assert before.endswith(after[: after.index(".") + 1])


def test_nothing_is_repeated_across_sections() -> None:
    first, second = f"# A\n\n{words(40)}. Last one.", f"# B\n\n{words(40, 'text')}"

    assert contents(f"{first}\n\n{second}", 60, 20) == [first, second]


def test_a_table_is_cut_between_rows_and_its_header_is_embedded_again() -> None:
    rows = [f"| row {n} | of the table |" for n in range(20)]
    document = read("\n".join(["| Name | Value |", "|---|---|", *rows]))
    chunks = chunk(document, lane(), Words())

    assert len(chunks) > 1
    assert [row for part in chunks for row in part.content.split("\n")][2:] == rows
    assert all(part.embedding_text.startswith("T\nName Value") for part in chunks)


def test_a_fence_that_fits_is_not_cut() -> None:
    code = "```\n" + "x = 1\n\n" * 10 + "```"

    assert code in contents(f"{words(30)}\n\n{code}\n\n{words(30)}")


def test_a_larger_fence_is_cut_at_lines_and_its_info_is_embedded_again() -> None:
    lines = [f"call({n})" for n in range(40)]
    chunks = chunk(read("```python\n" + "\n".join(lines) + "\n```"), lane(), Words())

    assert len(chunks) > 1
    assert [line for part in chunks for line in part.content.split("\n")] == ["```python", *lines, "```"]
    assert all(part.embedding_text.startswith("T\npython\n") for part in chunks[1:])


@pytest.mark.parametrize("run", ["x" * 3000, "\u65e5\u672c" * 800, "\u0645\u0631\u062d" * 900, "e\u0301\u0323" * 500])
def test_a_run_without_white_space_is_cut_by_characters(run: str) -> None:
    """F87: guaranteed progress on a long run without white space."""
    document = read(run)
    chunks = chunk(document, lane(), Words())

    assert len(chunks) > 1
    check(document, chunks, 40, Words())


def test_a_long_quote_is_embedded_without_its_marks() -> None:
    chunks = chunk(read("> some more words\n" * 40), lane(), Words())

    assert len(chunks) > 1
    assert not any(">" in part.embedding_text for part in chunks)


def test_what_is_shown_is_bounded_too_where_little_of_it_is_searched() -> None:
    links = " ".join(f"[{n}](http://{'u' * 90})" for n in range(60))

    assert max(map(len, contents(links))) <= 16 * 40


def test_blank_lines_in_code_make_no_chunk_of_their_own() -> None:
    document = read("```\nfirst\n" + "\n" * 5000 + "last\n```")
    chunks = chunk(document, lane(), Words())

    assert [part.content for part in chunks] == ["```\nfirst", "last\n```"]


def test_long_titles_and_headings_leave_room_for_the_text() -> None:
    document = read("\n\n".join(f"{'#' * level} {words(40)} {level}" for level in range(1, 6)) + f"\n\n{words(60)}")
    check(document, chunk(document, lane(), Words()), 40, Words())


@pytest.mark.parametrize(("chunk_tokens", "overlap_tokens"), [(15, 0), (40, 20), (40, 99), (40, -1)])
def test_sizes_that_cannot_work_are_refused(chunk_tokens: int, overlap_tokens: int) -> None:
    """F87: overlap >= size."""
    with pytest.raises(ValueError, match="at least 16"):
        chunk(read("text"), lane(chunk_tokens, overlap_tokens), Words())


# Whatever comes in.

LINES = """# A|## B|### C d|text|A sentence. Another one! And more?|- item|  - nested|> quote|||```py|```|~~~|    code
<div>|<!--|-->|[r]: x|***|===|1. one|   two"""
lines = st.lists(
    st.sampled_from(
        [
            *(line for row in LINES.split("\n") for line in row.split("|")),
            *("|a|b|", "|-|-|", "|1|2|", words(30), "x" * 300, "\u65e5\u672c\u8a9e\u3002" * 30),
            *("[l](http://" + "u" * 90 + ")", "- " * 30 + "deep"),
        ]
    ),
    max_size=25,
)
anything = st.one_of(lines.map("\n".join), st.text(max_size=300))


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])  # shared cores
@given(anything, st.integers(16, 60), st.integers(0, 29), st.sampled_from(["text/markdown", "text/plain"]))
def test_chunks_keep_their_promises_whatever_comes_in(content: str, size: int, overlap: int, media_type: str) -> None:
    """F87, F95: coverage, termination, exact offsets, size bound, order, determinism."""
    document = read(content, media_type)
    own = lane(size, min(overlap, (size - 1) // 2))
    chunks = chunk(document, own, Words())

    check(document, chunks, size, Words())
    assert chunk(read(content, media_type), own, Words()) == chunks


@pytest.mark.skipif(not PAGES.is_dir(), reason="the real pages of ../shared are absent")
def test_real_pages_keep_the_promises_with_the_real_counter() -> None:
    """F95: 203 pages in many languages, counted as the model counts; every eighth here."""
    tokens = Encoder(packaged_minilm())
    for page in sorted(PAGES.rglob("*.md"))[::8]:
        document = read_document(page.read_text(encoding="utf-8"), "text/markdown", page.name, None)

        check(document, chunk(document, lane(200, 32), tokens), 200, tokens)


def test_a_lane_without_title_prefix_embeds_headings_alone() -> None:
    document = read("## Care\n\nWash it by hand.\n", title="Guide")
    [named] = chunk(document, lane(), Words())
    [bare] = chunk(document, Lane("default", "", 40, 0, title_prefix=False), Words())

    assert named.embedding_text == "Guide\nCare\nWash it by hand."
    assert bare.embedding_text == "Care\nWash it by hand."
    assert (bare.content, bare.heading_path) == (named.content, named.heading_path)
    assert bare.token_count == named.token_count - 1
