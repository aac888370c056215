"""The blocks that a document is read into."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What a block is, which decides where it may be cut and what of it is searched."""

    HEADING = auto()
    """A heading that opens a section."""
    PROSE = auto()
    """Markdown text: a paragraph, of a list item or a quote too."""
    PLAIN = auto()
    """Text without markup."""
    CODE = auto()
    """Fenced or indented code."""
    TABLE = auto()
    """A table, one row a line."""
    HTML = auto()
    """A block of HTML."""


@dataclass(frozen=True, slots=True)
class Block:
    """A span of the stored text, `text[start:end]`, that begins and ends with a line."""

    kind: Kind
    start: int
    end: int
    path: tuple[str, ...]
    """Headings of the section that the block is in, outermost first, its own included for a heading."""
    body: tuple[int, int]
    """The part that is searched: of a fence, the lines between; of a heading, its text."""
    lead: str = ""
    """Text for the embedding of later pieces when the block is cut: a fence's info string, a table's header row."""
    level: int = 0
    """Level of a heading, 1 to 6."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What a reader finds in a stored text."""

    blocks: tuple[Block, ...]
    references: Mapping[str, object]
    """Link reference definitions, by label, as the Markdown parser keeps them."""
