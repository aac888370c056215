"""The PDFs of the demo are what their sources make."""

import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

ROOT = Path(__file__).parents[3]
BUILT = sorted((ROOT / "examples" / "handbook-pdf").glob("*.pdf"))


def test_the_same_sources_make_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "build_pdfs.py", tmp_path], check=True, timeout=60)

    assert {file.name: file.read_bytes() for file in sorted(tmp_path.iterdir())} == {
        file.name: file.read_bytes() for file in BUILT
    }


def test_there_are_three() -> None:
    assert len(BUILT) == 3


@pytest.mark.parametrize("pdf", BUILT, ids=lambda pdf: pdf.stem)
def test_each_has_three_to_five_pages_that_hold_text_and_their_number(pdf: Path) -> None:
    pages = [page.extract_text() for page in PdfReader(pdf).pages]

    assert 3 <= len(pages) <= 5
    for number, text in enumerate(pages, 1):
        assert len(text) > 500
        assert text.rstrip().endswith(f"Fernhill Instruments {number}")
