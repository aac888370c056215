"""What the manifest of the shared PDFs expects of a reader, and where what came out deviates."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.common.errors import Reason

FOLDER = Path("../shared/data/pdf")
DEVIATIONS = {
    "sample-files__imagemagick-images.pdf": "its pictures have labels, which are text",
    "pypdf__r6-user-password.pdf": "its owner's password is empty and opens it",
}
"""Files that are read where the manifest expects a refusal; docs/api.md says the same."""

_REFUSALS = {"no_text": Reason.DOCUMENT_WITHOUT_TEXT, "password": Reason.DOCUMENT_ENCRYPTED}
_DANGEROUS = frozenset({"text_or_error", "limit_or_text", "error"})


@dataclass(frozen=True, slots=True)
class Row:
    """One file of the manifest."""

    file: str
    """Path below the folder of the manifest."""
    outcome: str
    """`text`, `no_text`, `password`, `error`, `blank_or_text`, `text_or_error` or `limit_or_text`."""
    min_chars: int = 0
    """Fewest characters that are no white space."""
    max_chars: int | None = None
    words: tuple[str, ...] = ()
    """What the text contains."""

    @property
    def name(self) -> str:
        """File name without folders."""
        return Path(self.file).name

    @property
    def is_dangerous(self) -> bool:
        """Tell whether the file is to be opened under limits only."""
        return self.outcome in _DANGEROUS

    @property
    def expected(self) -> str:
        """What is held against the file: the outcome of its row, or of the reason why it deviates."""
        return "text" if self.name in DEVIATIONS else self.outcome


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reader made of a file: a text or the reason of its refusal."""

    text: str | None = None
    reason: Reason | None = None


def rows(folder: Path = FOLDER) -> list[Row]:
    """Return the rows of the manifest in `folder`, none where there is no manifest."""
    manifest = folder / "manifest.jsonl"
    # Texts may hold U+2028, on which splitlines also splits.
    lines = manifest.read_text(encoding="utf-8").split("\n") if manifest.exists() else []
    return [_row(json.loads(line)) for line in lines if line]


def inked(text: str) -> int:
    """Count the characters that are no white space, as the manifest does."""
    return len("".join(text.split()))


def deviation(row: Row, outcome: Outcome) -> str:
    """Say how the outcome deviates from what is expected; empty where it does not."""
    if row.expected in _REFUSALS:
        wanted = _REFUSALS[row.expected]
        return "" if outcome.reason is wanted else f"not {wanted.value}"
    if row.expected == "error":
        return "" if outcome.reason is not None else "read, though it is no PDF that can be used"
    if row.expected == "blank_or_text":
        return "" if outcome.reason in {None, Reason.DOCUMENT_WITHOUT_TEXT} else "neither text nor blank"
    if row.expected == "text":
        return _of_text(row, outcome)
    return "" if row.is_dangerous else f"the manifest expects {row.expected}, which is unknown here"


def _of_text(row: Row, outcome: Outcome) -> str:
    if outcome.text is None:
        return "not read"
    most = row.max_chars
    count, missing = inked(outcome.text), _missing(row.words, outcome.text)
    if count < row.min_chars or (most is not None and count > most):
        return f"{count} characters, not {row.min_chars} to {most}"
    return f"without {', '.join(missing)}" if missing else ""


def _missing(words: Sequence[str], text: str) -> list[str]:
    return [word for word in words if word not in text]


def _row(fields: dict[str, object]) -> Row:
    expect = fields["expect"]
    if not isinstance(expect, dict):
        raise TypeError("expect of a manifest row is an object")
    return Row(
        file=str(fields["file"]),
        outcome=expect["outcome"],
        min_chars=expect.get("min_chars", 0),
        max_chars=expect.get("max_chars"),
        words=tuple(expect.get("contains_words", ())),
    )
