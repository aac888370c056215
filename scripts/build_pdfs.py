"""Builds examples/handbook-pdf/ from examples/pdf-sources/: the same sources make the same bytes.

Usage: .venv/bin/python scripts/build_pdfs.py [FOLDER]

The sources are a small part of Markdown: headings, paragraphs, lists, tables, and `<!-- page -->` for a new page.
"""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from fpdf import FPDF
from fpdf.fonts import FontFace

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SOURCES = EXAMPLES / "pdf-sources"
NEW_PAGE = "<!-- page -->"
FONT = "Helvetica"
BLACK, GREY, TEAL = (20, 24, 28), (110, 116, 122), (0, 92, 100)
HEADINGS = {1: 22, 2: 14}
LINE = 5.4
"""Height of a line of text, in millimetres."""
WRITTEN = datetime(2025, 4, 1, tzinfo=UTC)
"""The date in each file; a clock would make every build another one."""
_BLOCK_END = re.compile(r"\n\s*\n")
_ITEM = re.compile(r"(-|\d+\.) ")


class Booklet(FPDF):
    """A document of several A4 pages with a line above and below each."""

    def __init__(self, title: str) -> None:
        """Begin a document; nothing in it depends on the machine or on the version of a compressor."""
        super().__init__(format="A4")
        self.core_fonts_encoding = "windows-1252"
        self.set_compression(False)
        self.set_creation_date(WRITTEN)
        self.set_title(title)
        self.set_author("Fernhill Instruments")
        self.set_producer("scripts/build_pdfs.py")
        self.set_lang("en-GB")
        self.set_margins(24, 22)
        self.set_auto_page_break(True, 24)
        self._running_title = title
        self.add_page()

    def header(self) -> None:
        """Write the running title, from the second page on."""
        if self.page_no() > 1:
            self._write_margin(10, self._running_title, "L")
            self.set_y(24)

    def footer(self) -> None:
        """Write the company and the number of the page."""
        self._write_margin(-16, "Fernhill Instruments", "L")
        self._write_margin(-16, f"{self.page_no()}", "R")

    def write_heading(self, level: int, text: str) -> None:
        """Write a heading and keep it with what follows."""
        if self.will_page_break(30):
            self.add_page()
        self.ln(3)
        self._style("B", HEADINGS[level], TEAL if level == 1 else BLACK)
        self.multi_cell(0, HEADINGS[level] * 0.48, text, align="L", new_x="LMARGIN", new_y="NEXT")
        self.ln(2)

    def write_paragraph(self, text: str) -> None:
        """Write a paragraph."""
        self._style("", 11, BLACK)
        self.multi_cell(0, LINE, text, align="L", new_x="LMARGIN", new_y="NEXT")
        self.ln(2.4)

    def write_list(self, items: list[str]) -> None:
        """Write a list, each item with its mark."""
        self._style("", 11, BLACK)
        for item in items:
            mark, text = item.split(" ", 1)
            self.cell(8, LINE, "\N{BULLET}" if mark == "-" else mark)
            self.multi_cell(0, LINE, text, align="L", new_x="LMARGIN", new_y="NEXT")
            self.ln(0.8)
        self.ln(1.6)

    def write_table(self, rows: list[list[str]]) -> None:
        """Write a table whose first row is its head."""
        self._style("", 10, BLACK)
        head = FontFace(emphasis="BOLD", color=BLACK, fill_color=(232, 240, 241))
        with self.table(
            rows, headings_style=head, line_height=LINE, text_align="LEFT", borders_layout="HORIZONTAL_LINES"
        ):
            pass
        self.ln(3.4)

    def _write_margin(self, y: float, text: str, align: str) -> None:
        self.set_y(y)
        self._style("", 9, GREY)
        self.cell(0, 6, text, align=align)

    def _style(self, emphasis: str, size: int, colour: tuple[int, int, int]) -> None:
        self.set_font(FONT, emphasis, size)
        self.set_text_color(*colour)


def build(source: Path, target: Path) -> None:
    """Write one source as a PDF."""
    blocks = [block.strip() for block in _BLOCK_END.split(source.read_text()) if block.strip()]
    booklet = Booklet(blocks[0].removeprefix("# "))
    for block in blocks:
        _write(booklet, block)
    booklet.output(str(target))


def _write(booklet: Booklet, block: str) -> None:
    if block == NEW_PAGE:
        booklet.add_page()
    elif block.startswith("#"):
        marks, text = block.split(" ", 1)
        booklet.write_heading(len(marks), text)
    elif block.startswith("|"):
        booklet.write_table([[cell.strip() for cell in row.strip("|").split("|")] for row in block.splitlines()])
    elif _ITEM.match(block):
        booklet.write_list(block.splitlines())
    else:
        booklet.write_paragraph(" ".join(block.split()))


def main() -> None:
    """Build all of them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES / "handbook-pdf"
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(SOURCES.glob("*.md")):
        build(source, folder / f"{source.stem}.pdf")


if __name__ == "__main__":
    main()
