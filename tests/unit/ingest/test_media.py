"""Which kind of document something is, and what its address is when only a name was sent."""

import pytest

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.media import MARKDOWN, PDF, PLAIN_TEXT, address_of, detected


@pytest.mark.parametrize(
    ("head", "content_type", "address", "kind"),
    [
        (b"%PDF-1.7\n", "text/plain", "notes.txt", PDF),
        (b"\xef\xbb\xbf \r\n%PDF-1.4", "", "a", PDF),
        (b"about %PDF-", "", "a.md", MARKDOWN),
        (b"cut", "application/pdf", "a", PDF),
        (b"cut", "", "a.PDF", PDF),
        (b"# a", "text/markdown; charset=utf-8", "a.txt", MARKDOWN),
        (b"# a", "Text/Plain", "a.md", PLAIN_TEXT),
        (b"# a", "application/octet-stream", "a.md", MARKDOWN),
        (b"# a", "application/x-www-form-urlencoded", "https://h.example/a.md?x=.pdf", MARKDOWN),
        (b"text", "", "a.unknown", PLAIN_TEXT),
    ],
)
def test_the_first_bytes_go_before_the_type_and_the_type_before_the_name(
    head: bytes, content_type: str, address: str, kind: str
) -> None:
    assert detected(head, content_type, address) == kind


@pytest.mark.parametrize("content_type", ["image/png", "application/json", "text/html", "*/*"])
def test_other_kinds_are_refused_by_name(content_type: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        detected(b"x", content_type, "a.md")

    assert caught.value.reason is Reason.MEDIA_TYPE_UNSUPPORTED


@pytest.mark.parametrize(
    ("filename", "address"),
    [
        ("report.pdf", "report.pdf"),
        ("Report 2024 (final).pdf", "Report%202024%20(final).pdf"),
        ("C:\\files\\Bericht März.pdf", "Bericht%20März.pdf"),
        ("/home/me/a#b?c:d%.pdf", "a%23b%3Fc%3Ad%25.pdf"),
        ("", ""),
    ],
)
def test_a_name_becomes_an_address(filename: str, address: str) -> None:
    assert address_of(filename) == address
