"""How long an ingest still takes: by the tokens that are left to embed, and the rate at which they were embedded."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from services.cli.batch import Done, Outcome
from services.cli.collect import Found

WINDOW_SECONDS = 120.0
"""How far back the rate is measured."""
PDF = "application/pdf"
_FILE_TOKENS = 80.0
"""What a file costs beside its tokens, in tokens: the call, the look-ups and the commit."""
_PDF_TOKENS = 1_500.0
"""The same of a PDF, which is read by a process of its own."""
_CHUNK_TOKENS = 150.0
"""Tokens of a chunk, as long as no file has been seen."""
_UNHEARD = 0.5
"""Part of a file that is done, on an average, at a moment that has nothing to do with it."""
_SETTLED_SECONDS = 2.0
"""Nothing is said before: the first file warms everything up."""
_STORED_CHUNK_TOKENS = 3.0
"""What it costs to store a chunk, which an upload does in the end, when all is embedded."""
_SILENT_SECONDS = 5.0
"""After so long without news the time left is not counted down any more, and the rate falls."""
_NO_TIME_SECONDS = 0.05
"""A file that failed sooner was not sent."""

Kind: TypeAlias = tuple[str, bool]
"""Media type, and whether no document is there yet: of one that is there only what changed is embedded."""


@dataclass(slots=True)
class _Ratio:
    """Tokens that a byte or a chunk brings: a guess, then ever more what was seen."""

    tokens: float
    units: float

    def see(self, tokens: float, units: float) -> None:
        self.tokens += tokens
        self.units += units

    @property
    def value(self) -> float:
        return self.tokens / self.units


class Work:
    """The files of one ingest that have to be sent, and what of them is done.

    Bytes are no measure by themselves: a megabyte of a PDF can hold as much text as ten kilobytes of Markdown, and of a
    changed document little is embedded. So bytes are weighed by the tokens that those of their kind brought so far, and
    an upload by the chunks that the service counts. Files that turn out unchanged or are not even sent leave the work
    and say nothing of it; one that the service refuses tells that bytes of its kind may bring nothing.
    """

    def __init__(self, files: Iterable[Found], is_new: Callable[[Found], bool], clock: Callable[[], float]) -> None:
        """Take the files, which of them are new, and a clock in seconds; the work begins now."""
        kinds = {file.source_url: (file.media_type, is_new(file)) for file in files}
        self._kinds: dict[str, Kind] = kinds
        self._densities = {kind: _guess(kind) for kind in set(kinds.values())}
        self._per_chunk = _Ratio(_CHUNK_TOKENS * 10, 10)
        self._files_left = Counter(kinds.values())
        self._bytes_left = Counter[Kind]()
        for file in files:
            self._bytes_left[kinds[file.source_url]] += file.size
        self._under_way: dict[str, _UnderWay] = {}
        self._done = 0.0
        self._heard = False
        self._clock = clock
        self._samples: deque[tuple[float, float]] = deque([(clock(), 0.0)])
        self._tokens_left = 0.0
        """As it was at the latest sample."""

    def started(self, file: Found) -> None:
        """Note that a file is on its way; until more is heard of it, it counts as half done when another one ends."""
        self._under_way[file.source_url] = _UnderWay(file)

    def progressed(self, file: Found, embedded: int, total: int) -> None:
        """Note how many of its chunks have been embedded by now."""
        self._under_way[file.source_url] = _UnderWay(file, embedded, total)
        self._heard = True
        self._sample()

    def finished(self, file: Found, done: Done) -> None:
        """Note that a file was dealt with."""
        kind = self._kinds[file.source_url]
        self._under_way.pop(file.source_url, None)
        self._files_left[kind] -= 1
        self._bytes_left[kind] -= file.size
        if done.outcome is not Outcome.UNCHANGED:
            self._learn(kind, file, done)
        self._sample()

    def seconds_left(self) -> float | None:
        """Return the seconds until the end, or nothing while there is no rate yet."""
        if not self._files_left.total():
            return 0.0
        (since, before), (latest, now) = self._samples[0], self._samples[-1]
        if now <= before or latest - since < _SETTLED_SECONDS:
            return None
        silent = self._clock() - latest
        rate = (now - before) / (latest - since + max(0.0, silent - _SILENT_SECONDS))
        return max(1.0, self._tokens_left / rate - min(silent, _SILENT_SECONDS))

    def _learn(self, kind: Kind, file: Found, done: Done) -> None:
        if done.outcome is Outcome.FAILED and done.seconds < _NO_TIME_SECONDS:
            return
        self._heard = True
        tokens, chunks = float(done.result.get("tokens_embedded", 0)), done.result.get("chunks_added", 0)
        if done.sends > 1:
            tokens = max(tokens, self._per_chunk.value * chunks)
        else:
            self._per_chunk.see(tokens, chunks)
        self._densities[kind].see(tokens, file.size)
        self._done += _overhead(kind) + tokens + _STORED_CHUNK_TOKENS * chunks

    def _sample(self) -> None:
        now = self._clock()
        under_way = sum(self._done_of(one) for one in self._under_way.values())
        self._tokens_left = self._expected_in_all() - under_way
        if self._heard:
            self._samples.append((now, self._done + under_way))
        while len(self._samples) > 2 and self._samples[1][0] <= now - WINDOW_SECONDS:
            self._samples.popleft()

    def _expected_in_all(self) -> float:
        by_kind = sum(
            self._densities[kind].value * self._bytes_left[kind] + _overhead(kind) * count
            for kind, count in self._files_left.items()
        )
        known_better = (one for one in self._under_way.values() if one.chunks)
        return by_kind + sum(self._expected(one) - self._expected(_UnderWay(one.file)) for one in known_better)

    def _expected(self, one: "_UnderWay") -> float:
        kind = self._kinds[one.file.source_url]
        if one.chunks:
            return _overhead(kind) + (self._per_chunk.value + _STORED_CHUNK_TOKENS) * one.chunks
        return _overhead(kind) + self._densities[kind].value * one.file.size

    def _done_of(self, one: "_UnderWay") -> float:
        if one.chunks:
            return _overhead(self._kinds[one.file.source_url]) + self._per_chunk.value * min(one.embedded, one.chunks)
        return self._expected(one) * _UNHEARD


@dataclass(frozen=True, slots=True)
class _UnderWay:
    file: Found
    embedded: int = 0
    chunks: int = 0
    """0 until the service has counted them."""


def _overhead(kind: Kind) -> float:
    return _PDF_TOKENS if kind[0] == PDF else _FILE_TOKENS


def _guess(kind: Kind) -> _Ratio:
    """Return what holds until files of the kind were seen, and weighs as much as a few of them."""
    media_type, is_new = kind
    tokens, size = (4_000.0, 200_000.0) if media_type == PDF else (2_000.0, 8_000.0)
    return _Ratio(tokens if is_new else tokens / 4, size)
