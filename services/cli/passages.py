"""How a passage is named for a reader: title, page, headings, address."""

from typing import Any

from services.cli.printable import one_line


def place(passage: dict[str, Any]) -> str:
    """Return title, page and headings of a source or passage on one line. Example: `Guide, page 3: Care > Cleaning`."""
    title = one_line(passage["source"])
    page = f", page {passage['page']}" if passage.get("page") else ""
    headings = [one_line(heading) for heading in passage.get("heading_path", [])]
    if headings and headings[0] == title:
        headings = headings[1:]
    return f"{title}{page}" + (f": {' > '.join(headings)}" if headings else "")


def excerpt(text: str, most: int = 240) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = one_line(text)
    if len(line) <= most:
        return line
    return line[:most].rpartition(" ")[0] + " …"
