"""What is refused before anything is done for it."""

import pytest

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.request import MAX_CONTENT_BYTES, IngestRequest


def checked(**changes: object) -> IngestRequest:
    fields: dict[str, object] = {
        "tenant": "default",
        "lane": "",
        "source_url": "a.md",
        "title": "",
        "media_type": "",
        "content": "text",
        "metadata": {},
    }
    return IngestRequest.checked(**(fields | changes))  # type: ignore[arg-type]  # wrong types are not what is tested


def test_empty_fields_take_their_defaults() -> None:
    request = checked(title="  ")

    assert (request.lane, request.title, request.media_type) == ("default", None, "text/markdown")


@pytest.mark.parametrize("title", ["The \u202eelttek\u202c", "The\x07\x1b elttek", "\u2066The\u2069\telttek\n"])
def test_a_title_steers_no_terminal_and_turns_no_line(title: str) -> None:
    assert checked(title=title).title == "The elttek"


def test_a_title_that_cannot_be_seen_is_none() -> None:
    assert checked(title="\u200b\x07\u202e").title is None


def test_a_lane_has_at_most_the_characters_that_the_database_takes() -> None:
    assert checked(lane="a" * 64).lane == "a" * 64


@pytest.mark.parametrize(
    ("source_url", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("A.MARKDOWN", "text/markdown"),
        ("https://h.example/x.md?v=1", "text/markdown"),
        ("notes", "text/plain"),
    ],
)
def test_the_kind_of_text_follows_the_ending(source_url: str, media_type: str) -> None:
    assert checked(source_url=source_url).media_type == media_type


@pytest.mark.parametrize(
    "source_url",
    ["handbook/leave.md", "../up.md", "https://h.example/a%20b", "file:///srv/docs/a.md", "ünïcode.md", "a:b.md"[1:]],
)
def test_addresses_of_the_four_kinds_are_taken(source_url: str) -> None:
    assert checked(source_url=source_url).source_url == source_url


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"source_url": ""}, Reason.FIELD_MISSING),
        ({"source_url": "a b.md"}, Reason.FIELD_INVALID),
        ({"source_url": "a\nb.md"}, Reason.FIELD_INVALID),
        ({"source_url": "a\u3000b.md"}, Reason.FIELD_INVALID),
        ({"source_url": "a\u202eb.md"}, Reason.FIELD_INVALID),
        ({"source_url": "\u200b\u00ad"}, Reason.FIELD_INVALID),
        ({"source_url": "\u3164\u2800"}, Reason.FIELD_INVALID),
        ({"source_url": "http://"}, Reason.FIELD_INVALID),
        ({"source_url": "https:///page"}, Reason.FIELD_INVALID),
        ({"source_url": "http://host:99999/page"}, Reason.FIELD_INVALID),
        ({"source_url": "//host/page"}, Reason.FIELD_INVALID),
        ({"source_url": "https://user:secret@host/page"}, Reason.FIELD_INVALID),
        ({"source_url": "javascript:alert(1)"}, Reason.FIELD_INVALID),
        ({"source_url": "data:text/html,x"}, Reason.FIELD_INVALID),
        ({"source_url": "ftp://h.example/a"}, Reason.FIELD_INVALID),
        ({"source_url": "http://[bad"}, Reason.FIELD_INVALID),
        ({"source_url": "a" * 2049}, Reason.FIELD_OUT_OF_RANGE),
        ({"title": "t" * 301}, Reason.FIELD_OUT_OF_RANGE),
        ({"title": "a\0b"}, Reason.TEXT_MALFORMED),
        ({"lane": "Not A Lane"}, Reason.FIELD_INVALID),
        ({"lane": "a" * 65}, Reason.FIELD_INVALID),
        ({"media_type": "text/html"}, Reason.FIELD_INVALID),
        ({"content": ""}, Reason.FIELD_MISSING),
        ({"content": " \n "}, Reason.FIELD_MISSING),
        ({"content": "\ud800"}, Reason.TEXT_MALFORMED),
        ({"content": "é" * (MAX_CONTENT_BYTES // 2 + 1)}, Reason.DOCUMENT_TOO_LARGE),
        ({"metadata": {"": "x"}}, Reason.FIELD_INVALID),
        ({"metadata": {"k" * 65: "x"}}, Reason.FIELD_OUT_OF_RANGE),
        ({"metadata": {"k": "v" * 1025}}, Reason.FIELD_OUT_OF_RANGE),
        ({"metadata": {str(number): "x" for number in range(65)}}, Reason.FIELD_OUT_OF_RANGE),
        ({"metadata": {"k": "a\0b"}}, Reason.TEXT_MALFORMED),
    ],
)
def test_what_cannot_be_ingested_is_refused_by_name(changes: dict[str, object], reason: Reason) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        checked(**changes)

    assert caught.value.reason is reason


def test_nul_in_content_is_left_to_normalisation() -> None:
    """F29: extracted text often holds it, and the document is not lost for it."""
    assert checked(content="a\0b").content.data == b"a\0b"
