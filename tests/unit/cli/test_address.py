"""The addresses that files are stored under."""

import os
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cli.address import address
from services.ingest.request import IngestRequest


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/tea.md", "docs/tea.md"),
        ("docs/green tea.md", "docs/green%20tea.md"),
        ("docs/100%.md", "docs/100%25.md"),
        ("docs/is it #1?.md", "docs/is%20it%20%231%3F.md"),
        ("C:/a.md", "C%3A/a.md"),
        ("docs/Müller.md", "docs/Müller.md"),
        ("docs/Mu\N{COMBINING DIAERESIS}ller.md", "docs/Müller.md"),
        ("docs/日本.md", "docs/日本.md"),
        (os.fsdecode(b"docs/\xff.md"), "docs/%FF.md"),
        ("docs/\N{RIGHT-TO-LEFT OVERRIDE}fdp.md", "docs/%E2%80%AEfdp.md"),
    ],
)
def test_only_what_an_address_cannot_hold_is_encoded(path: str, expected: str) -> None:
    assert address(PurePath(path)) == expected


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_the_service_takes_every_address(name: str) -> None:
    IngestRequest.checked(
        tenant="t",
        lane="",
        source_url=address(PurePath("docs", name)),
        title="",
        media_type="",
        content="x",
        metadata={},
    )
