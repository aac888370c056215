"""Packs the blocks of a document into chunks: exact spans of its stored text that fit the embedding model."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile

from services.common.text import is_blank, search_text
from services.ingest import cuts
from services.ingest.blocks import Block
from services.ingest.model import Chunk, Lane
from services.ingest.pieces import Cutter, Piece
from services.ingest.ports import TokenCounter
from services.ingest.readers import ReadDocument

CHUNKER_VERSION = 1
"""Changes whenever the same document and lane may give other chunks."""

_SMALL_SECTION = 40
"""Tokens below which a section shares a chunk with the next."""
_MODEL_TOKENS = 254
"""Tokens that the embedding model takes beside its special ones."""
FEWEST_TOKENS = 16
"""Of a chunk; smaller ones hold no sentence."""


def chunk(read: ReadDocument, lane: Lane, tokens: TokenCounter, model_tokens: int = _MODEL_TOKENS) -> list[Chunk]:
    """Cut the document into chunks in the order of their text; none where it holds nothing to search.

    `token_count` is that of `embedding_text`, at most `lane.chunk_tokens` and `model_tokens`, for a counter whose
    counts of texts joined by white space add up. Neighbours overlap by at most `lane.overlap_tokens`, and only where a
    section was cut in prose. Raises ValueError on fewer than 16 tokens, or an overlap of half the chunk or more.
    """
    limit = min(lane.chunk_tokens, model_tokens)
    if limit < FEWEST_TOKENS or not 0 <= lane.overlap_tokens < lane.chunk_tokens / 2:
        raise ValueError("chunk_tokens must be at least 16, and overlap_tokens less than half of it")
    return _Chunker(read, tokens, limit, lane).chunks()


class _Chunker:
    def __init__(self, read: ReadDocument, tokens: TokenCounter, limit: int, lane: Lane) -> None:
        self._read = read
        self._count = tokens.count
        self._limit = limit
        self._overlap = lane.overlap_tokens
        self._title = read.title if lane.title_prefix else ""
        self._cutter = Cutter(read, tokens, limit)
        self._heads: dict[tuple[str, ...], tuple[str, int]] = {}

    def chunks(self) -> list[Chunk]:
        found: list[Chunk] = []
        for group in self._groups():
            for pieces in self._packed(group):
                if not all(is_blank(piece.search) for piece in pieces):
                    found.append(self._chunk(len(found), pieces))
        return found

    def _sections(self) -> Iterator[list[Piece]]:
        section: list[Piece] = []
        for block in self._read.structure.blocks:
            budget = self._limit - self._head(block.path)[1] - self._lead(block)[1]
            pieces = self._cutter.pieces(block, budget)
            if section and pieces and pieces[0].is_heading:
                yield section
                section = []
            section += pieces
        if section:
            yield section

    def _groups(self) -> Iterator[list[Piece]]:
        """Yield the sections, those that are too small for a chunk of their own together with the next."""
        group: list[Piece] = []
        for section in self._sections():
            if group and not _may_share(group[-1], section[0]):
                yield group
                group = []
            group = group + section
            if sum(piece.tokens for piece in group) >= _SMALL_SECTION:
                yield group
                group = []
        if group:
            yield group

    def _packed(self, group: list[Piece]) -> Iterator[list[Piece]]:
        waiting, current = deque(group), list[Piece]()
        while waiting:
            piece = waiting.popleft()
            if current and not self._fits([*current, piece]):
                parts = self._cutter.sentences(piece) if self._is_sparse(current) else []
                if len(parts) > 1:
                    waiting.extendleft(reversed(parts))
                    continue
                closed, carried = _without_last_headings(current)
                if closed:
                    yield closed
                    current = carried or self._repeated(closed, piece)
                    waiting.appendleft(piece)
                    continue
            current.append(piece)
        yield current

    def _fits(self, pieces: Sequence[Piece]) -> bool:
        shown = next((piece.start for piece in pieces if not piece.is_heading), pieces[-1].start)
        return self._cost(pieces) <= self._limit and pieces[-1].end - shown <= self._cutter.most_characters

    def _cost(self, pieces: Sequence[Piece]) -> int:
        path = _common_path(pieces)
        lead = self._lead(pieces[0].block)[1] if pieces[0].is_later else 0
        named = sum(piece.tokens for piece in pieces if piece.block.level and _is_named(piece, path))
        return self._head(path)[1] + lead + sum([piece.tokens for piece in pieces]) - named

    def _is_sparse(self, pieces: Sequence[Piece]) -> bool:
        return sum(piece.tokens for piece in pieces) < self._limit / 3

    def _repeated(self, closed: Sequence[Piece], following: Piece) -> list[Piece]:
        """Return the last sentences of a chunk, to be repeated at the beginning of the next in the same section."""
        taken: list[Piece] = []
        for piece in reversed(closed):
            if not piece.is_prose or following.is_heading or piece.block.path != following.block.path:
                break
            for sentence in reversed(self._cutter.sentences(piece)):
                wider = [sentence, *taken]
                too_much = sum(part.tokens for part in wider) > self._overlap
                if too_much or sentence.start <= closed[0].start or not self._fits([*wider, following]):
                    return taken
                taken = wider
        return taken

    def _chunk(self, ordinal: int, pieces: Sequence[Piece]) -> Chunk:
        start, end = _trimmed(self._read.text, pieces[0].start, pieces[-1].end)
        path = _common_path(pieces)
        lead = self._lead(pieces[0].block)[0] if pieces[0].is_later else ""
        body = [piece.search for piece in pieces if not _is_named(piece, path)]
        embedding_text = "\n".join(part for part in (self._head(path)[0], lead, *body) if part)
        return Chunk(
            ordinal=ordinal,
            content=self._read.text[start:end],
            char_start=start,
            char_end=end,
            heading_path=path,
            page=None,
            token_count=self._count(embedding_text),
            embedding_text=embedding_text,
        )

    def _head(self, path: tuple[str, ...]) -> tuple[str, int]:
        """Return title and headings for the embedding, outer ones dropped where they are long, and the tokens."""
        if path not in self._heads:
            headings = path[1:] if path[:1] == (self._title,) else path
            names = [name for name in map(search_text, (self._title, *headings)) if name]
            while len(names) > 1 and self._count("\n".join(names)) > self._limit // 4:
                names.pop(1 if len(names) > 2 else 0)
            head = self._shortened("\n".join(names))
            self._heads[path] = head, self._count(head)
        return self._heads[path]

    def _shortened(self, head: str) -> str:
        cut = cuts.fitting(head, 0, len(head), lambda start, end: self._count(head[start:end]) <= self._limit // 4)
        return next((head[start:end].strip() for start, end in cut), "")

    def _lead(self, block: Block) -> tuple[str, int]:
        """Return what later pieces of a cut block are embedded with, unless it is long, and its tokens."""
        lead = search_text(block.lead) if len(block.lead) <= self._cutter.most_characters else ""
        tokens = self._count(lead) if lead else 0
        return (lead, tokens) if tokens <= self._limit // 4 else ("", 0)


def _may_share(last: Piece, following: Piece) -> bool:
    """Tell whether the section after `last` has the same parent, or `last` is a heading without text."""
    parent = last.block.path[:-1]
    return last.is_heading or following.block.path[: len(parent)] == parent


def _common_path(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return the headings that all text of the pieces stands under."""
    paths = {piece.block.path for piece in pieces if not piece.block.level} or {pieces[-1].block.path}
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return tuple(names[0] for names in levels)


def _is_named(piece: Piece, path: tuple[str, ...]) -> bool:
    """Tell whether the piece is a heading that the path already names."""
    return piece.is_heading and path[: len(piece.block.path)] == piece.block.path


def _without_last_headings(pieces: list[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Split off the headings at the end, which belong to what follows; one at most where there is nothing else."""
    at = len(pieces)
    while at > 0 and pieces[at - 1].is_heading:
        at -= 1
    at = at or len(pieces) - 1
    return pieces[:at], pieces[at:]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out blank lines at the beginning and white space at the end; the first line keeps its indentation."""
    content = text[start:end]
    blank = len(content) - len(content.lstrip())
    return start + content.rfind("\n", 0, blank) + 1, start + len(content.rstrip())
