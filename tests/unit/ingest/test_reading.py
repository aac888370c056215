"""What a reader is told of a document that the model cannot read."""

import io

import pytest

from services.ingest.media import MARKDOWN, PDF
from services.ingest.model import Lane, ReadingTask
from services.ingest.pdf import PdfLimits
from services.ingest.reading import read_and_chunk
from tests.fakes.ingest import Words
from tests.fakes.pdf import pdf

WARNING = "the embedding model cannot read 60% of the text, its script or language: it is hardly found"


class Foreign(Words):
    """Cannot read words in capitals."""

    def unknown_share(self, text: str) -> float:
        words = text.split()
        return sum(word.isupper() for word in words) / len(words)


def warnings_of(data: bytes, media_type: str) -> list[str]:
    task = ReadingTask(media_type, "a", "", Lane("default", "", 200, 30, title_prefix=False))
    return list(read_and_chunk(io.BytesIO(data), task, Foreign(), PdfLimits()).warnings)


@pytest.mark.parametrize(
    ("text", "warnings"),
    [("AB CD EF four five", [WARNING]), ("AB two three four five", []), ("one two three four five", [])],
)
def test_a_document_that_the_model_cannot_read_is_warned_of(text: str, warnings: list[str]) -> None:
    assert warnings_of(text.encode(), MARKDOWN) == warnings
    assert warnings_of(pdf([text]), PDF) == warnings


def test_a_document_is_judged_by_all_of_it() -> None:
    text = "\n\n".join(["# One\n\n" + "word " * 150] + [f"# N{n}\n\n" + "WORD " * 150 for n in range(20)])

    assert len(warnings_of(text.encode(), MARKDOWN)) == 1
