"""Compares pypdf and PDFium alone over the shared PDFs: `python -m evals.pdf_readers`, for decision 0002."""

import io
import json
import logging
import re
import resource
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import click
import pypdf
import pypdfium2

from evals.pdf_expected import FOLDER, Outcome, Row, deviation, inked, rows

_ADDRESS_SPACE, _CPU_SECONDS = 1536 << 20, 60
_WORD = re.compile(r"\w+")
_LINE_HYPHEN = re.compile("[-\u00ad]\n")


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader made of a file."""

    pages: tuple[str | None, ...] = ()
    """Text of each page, None for one that cannot be read."""
    failure: str = ""
    cpu_seconds: float = 0.0
    """Processor time of opening and reading; the start of the process and the import are not in it."""

    @property
    def text(self) -> str:
        """Text of all pages."""
        return "\n".join(page or "" for page in self.pages)


def by_pypdf(data: bytes) -> list[str | None]:
    """Read the pages by pypdf."""
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise PermissionError("password")

    def text(index: int) -> str:
        return reader.pages[index].extract_text()

    return [_page(text, index) for index in range(len(reader.pages))]


def by_pdfium(data: bytes) -> list[str | None]:
    """Read the pages by PDFium, its sign for a hyphen at the end of a line written out."""
    document = pypdfium2.PdfDocument(data)

    def text(index: int) -> str:
        return str(document[index].get_textpage().get_text_range()).replace("\ufffe", "-\n").replace("\r\n", "\n")

    return [_page(text, index) for index in range(len(document))]


READERS: dict[str, Callable[[bytes], list[str | None]]] = {"pypdf": by_pypdf, "PDFium": by_pdfium}


def read_apart(name: str, file: Path) -> Read:
    """Read the file by the reader of this name in a process made for it, under limits."""
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_confine) as pool:
            return pool.submit(_read, name, file).result()
    except BrokenProcessPool:
        return Read(failure="its process ended")


def agreement(one: str, other: str) -> float:
    """Return F1 of the words of two texts, NFKC, hyphens at line ends mended; 1 where neither has any."""
    first, second = _words(one), _words(other)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


@click.command()
@click.argument("names", nargs=-1)
@click.option("--folder", type=Path, default=FOLDER, help="Folder of manifest.jsonl.")
def main(names: Sequence[str], folder: Path) -> None:
    """Print a JSON object a file and one for all, of every file of the manifest or those whose name holds a NAME."""
    spent = dict.fromkeys(READERS, 0.0)
    for row in rows(folder):
        if names and not any(name in row.name for name in names):
            continue
        read = {name: read_apart(name, folder / row.file) for name in READERS}
        for name, one in read.items():
            spent[name] += one.cpu_seconds
        agreed = agreement(*(one.text for one in read.values()))
        told = {name: _told(row, one) for name, one in read.items()}
        click.echo(json.dumps({"file": row.name, "expected": row.outcome, "agreement": round(agreed, 3), **told}))
    click.echo(json.dumps({"cpu_seconds": {name: round(seconds, 2) for name, seconds in spent.items()}}))


def _told(row: Row, read: Read) -> dict[str, object]:
    wrong = deviation(row, Outcome(read.text)) if row.expected == "text" else ""
    return {
        "characters": inked(read.text),
        "unread_pages": [number for number, page in enumerate(read.pages, 1) if page is None],
        "failure": read.failure,
        "wrong": wrong,
        "cpu_ms": round(read.cpu_seconds * 1000, 1),
    }


def _confine() -> None:
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(name: str, file: Path) -> Read:
    data, began = file.read_bytes(), time.process_time()
    try:
        pages, failure = READERS[name](data), ""
    except Exception as error:  # noqa: BLE001  # damaged files make pypdf raise anything
        pages, failure = [], type(error).__name__
    return Read(tuple(pages), failure, time.process_time() - began)


def _page(read: Callable[[int], str], index: int) -> str | None:
    try:
        return read(index)
    except Exception:  # noqa: BLE001  # as above
        return None


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", _LINE_HYPHEN.sub("", text))))


if __name__ == "__main__":
    main(prog_name="python -m evals.pdf_readers")
