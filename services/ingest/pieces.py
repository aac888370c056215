"""The pieces that chunks are packed of: whole blocks, and the parts of blocks that are too large for one chunk."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from services.ingest import cuts
from services.ingest.blocks import Block, Kind
from services.ingest.ports import TokenCounter
from services.ingest.readers import ReadDocument

_CHARACTERS_PER_TOKEN = 16
"""Bound on what is shown for a token that is embedded: links and tables are long, their search text is short."""

_PROSE = frozenset({Kind.PROSE, Kind.PLAIN})


@dataclass(frozen=True, slots=True)
class Piece:
    """A block or a part of one."""

    block: Block
    start: int
    end: int
    search: str
    """Search text; blank for what is shown only, such as the fences of code that was cut."""
    tokens: int

    @property
    def is_heading(self) -> bool:
        """Whether the piece opens a section."""
        return self.block.level > 0

    @property
    def is_prose(self) -> bool:
        """Whether the piece may be cut after sentences."""
        return self.block.kind in _PROSE

    @property
    def is_later(self) -> bool:
        """Whether the piece is not the first of its block."""
        return self.start > self.block.start


class Cutter:
    """Cuts a document into pieces."""

    def __init__(self, read: ReadDocument, tokens: TokenCounter, limit: int) -> None:
        """Take the document, the counter, and the tokens of a chunk, its title and headings included."""
        self._read = read
        self._tokens = tokens
        self._piece = lru_cache(maxsize=1024)(self._searched)
        self.most_characters = limit * _CHARACTERS_PER_TOKEN

    def pieces(self, block: Block, budget: int) -> list[Piece]:
        """Return the block whole, or in parts of at most `budget` tokens; nothing for what holds no search text."""
        small = block.end - block.start <= self.most_characters
        if small or block.kind is Kind.HTML:
            whole = self._piece(block, block.start, block.end)
            if not whole.search:
                return []
            if small and whole.tokens <= budget:
                return [whole]
        parts = cuts.sentences if block.kind in _PROSE else cuts.lines
        cut = list(self._parts(block, (block.start, block.end), parts, budget))
        return cut if any(piece.search for piece in cut) else []

    def sentences(self, piece: Piece) -> list[Piece]:
        """Return the sentences of a piece of prose; the piece itself where it is something else."""
        if not piece.is_prose:
            return [piece]
        return list(self._parts(piece.block, (piece.start, piece.end), cuts.sentences, max(piece.tokens, 1)))

    def _parts(
        self,
        block: Block,
        span: tuple[int, int],
        parts: Callable[[str, int, int], Iterator[tuple[int, int]]],
        budget: int,
    ) -> Iterator[Piece]:
        def fits(start: int, end: int) -> bool:
            return end - start <= self.most_characters and self._piece(block, start, end).tokens <= budget

        for start, end in parts(self._read.text, *span):
            for cut in [(start, end)] if fits(start, end) else cuts.fitting(self._read.text, start, end, fits):
                yield self._piece(block, *cut)

    def _searched(self, block: Block, start: int, end: int) -> Piece:
        search = self._read.search(block, start, end)
        return Piece(block, start, end, search, self._tokens.count(search) if search else 0)
