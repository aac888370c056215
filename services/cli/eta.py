"""How long an ingest still takes: by the tokens that are left to embed, and the rate at which they were embedded."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from services.cli.batch import Done, Outcome
from services.cli.collect import Found

FILE_TOKENS = 40.0
"""What a file costs beside its tokens, in tokens: the call, the look-ups and the commit."""
WINDOW_SECONDS = 120.0
"""How far back the rate is measured."""
_SETTLED_SECONDS = 2.0
"""Nothing is said before: the first file warms everything up."""

_UNHEARD = 0.5
"""Part of a file that is done, on an average, at a moment that has nothing to do with it."""

Kind: TypeAlias = tuple[str, bool]
"""Media type, and whether a document is there already: of such a one only what changed is embedded."""


@dataclass(slots=True)
class _Density:
    """Tokens that a byte of a kind of file brings: a guess, then ever more what was seen."""

    tokens: float
    bytes: float

    def see(self, tokens: float, size: int) -> None:
        self.tokens += tokens
        self.bytes += size

    @property
    def value(self) -> float:
        return self.tokens / self.bytes


class Work:
    """The files of one ingest that have to be sent, and what of them is done.

    Bytes are no measure by themselves: a megabyte of a PDF can hold as much text as ten kilobytes of Markdown, and of a
    changed document little is embedded. Files that turn out unchanged, or fail, leave the work and say nothing of the
    rate.
    """

    def __init__(self, files: Iterable[Found], is_new: Callable[[Found], bool], clock: Callable[[], float]) -> None:
        """Take the files, which of them are new, and a clock in seconds; the work begins now."""
        self._left = {file.source_url: file for file in files}
        self._kinds: dict[str, Kind] = {url: (file.media_type, is_new(file)) for url, file in self._left.items()}
        self._densities = {kind: _guess(kind) for kind in set(self._kinds.values())}
        self._bytes_left = Counter[Kind]()
        for url, file in self._left.items():
            self._bytes_left[self._kinds[url]] += file.size
        self._parts: dict[str, float] = {}
        self._done = 0.0
        self._heard = False
        self._clock = clock
        self._samples: deque[tuple[float, float]] = deque([(clock(), 0.0)])
        self._tokens_left = 0.0
        """As it was at the latest sample."""

    def started(self, file: Found) -> None:
        """Note that a file is on its way; until more is heard of it, it counts as half done when another one ends."""
        self._parts[file.source_url] = _UNHEARD

    def progressed(self, file: Found, part: float) -> None:
        """Note which part of a file is embedded, 0 to 1."""
        self._parts[file.source_url] = min(max(part, 0.0), 1.0)
        self._heard = True
        self._sample()

    def finished(self, file: Found, done: Done) -> None:
        """Note that a file was dealt with."""
        kind = self._kinds[file.source_url]
        self._left.pop(file.source_url, None)
        self._parts.pop(file.source_url, None)
        self._bytes_left[kind] -= file.size
        if done.outcome in (Outcome.CREATED, Outcome.REPLACED):
            tokens = float(done.result.get("tokens_embedded", 0))
            self._densities[kind].see(tokens, file.size)
            self._done += FILE_TOKENS + tokens
            self._heard = True
        self._sample()

    def seconds_left(self) -> float | None:
        """Return the seconds until the end, or nothing while there is no rate yet."""
        if not self._left:
            return 0.0
        (since, before), (latest, now) = self._samples[0], self._samples[-1]
        if now <= before or latest - since < _SETTLED_SECONDS:
            return None
        rate = (now - before) / (latest - since)
        return max(1.0, self._tokens_left / rate - (self._clock() - latest))

    def _sample(self) -> None:
        now = self._clock()
        under_way = sum(self._expected(self._left[url]) * part for url, part in self._parts.items())
        whole = sum(self._densities[kind].value * size for kind, size in self._bytes_left.items())
        self._tokens_left = whole + FILE_TOKENS * len(self._left) - under_way
        if self._heard:
            self._samples.append((now, self._done + under_way))
        while len(self._samples) > 2 and self._samples[1][0] <= now - WINDOW_SECONDS:
            self._samples.popleft()

    def _expected(self, file: Found) -> float:
        return FILE_TOKENS + self._densities[self._kinds[file.source_url]].value * file.size


def _guess(kind: Kind) -> _Density:
    """Return what holds until files of the kind were seen, and weighs as much as a few of them."""
    media_type, is_new = kind
    tokens, size = (2_000.0, 200_000.0) if media_type == "application/pdf" else (2_000.0, 8_000.0)
    return _Density(tokens if is_new else tokens / 4, size)
