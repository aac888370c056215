"""Lanes as an operator writes them down: one TOML table a lane."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.ingest.chunking import FEWEST_TOKENS
from services.ingest.model import Lane

MAX_LANES = 1_000
MAX_DESCRIPTION = 1_000
"""Characters."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DEFAULTS: Mapping[str, Any] = {"description": "", "chunk_tokens": 200, "overlap_tokens": 30, "title_prefix": True}


class LanesError(ValueError):
    """The text describes no lanes; the message says everything that is wrong, lane by lane."""


def lanes_of(text: str, model_tokens: int) -> Sequence[Lane]:
    """Return the lanes of `[lanes.NAME]` tables, in order; what a table leaves out is as in the lane `default`.

    `model_tokens` is the longest text that the embedding model takes, and so the longest chunk. Raises LanesError.
    """
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LanesError(f"is no TOML: {error}") from None
    tables = written.pop("lanes", None)
    problems = [f"`{name}` is not known; lanes stand in tables [lanes.NAME]" for name in written]
    if not isinstance(tables, dict) or not tables:
        raise LanesError("; ".join([*problems, "it holds no table [lanes.NAME]"]))
    if len(tables) > MAX_LANES:
        raise LanesError(f"it holds more than {MAX_LANES:,} lanes")
    for name, table in tables.items():
        problems += [f"lane {name!r}: {problem}" for problem in _problems(name, table, model_tokens)]
    if problems:
        raise LanesError("; ".join(problems))
    return [Lane(name=name, **{**_DEFAULTS, **table}) for name, table in tables.items()]


def _problems(name: str, table: Any, model_tokens: int) -> Iterator[str]:
    if not _NAME.fullmatch(name):
        yield "a name is 1 to 64 of a-z, 0-9, - and _, the first a letter or digit"
    if not isinstance(table, dict):
        yield "it is no table"
        return
    yield from (f"`{key}` is not known; {', '.join(_DEFAULTS)} are" for key in table if key not in _DEFAULTS)
    values = {**_DEFAULTS, **table}
    wrong = [key for key, default in _DEFAULTS.items() if type(values[key]) is not type(default)]
    if wrong:
        yield from (f"`{key}` must be {_KINDS[type(_DEFAULTS[key])]}" for key in wrong)
        return
    if len(values["description"]) > MAX_DESCRIPTION or not values["description"].isprintable():
        yield f"`description` is not one line of at most {MAX_DESCRIPTION:,} characters"
    if not FEWEST_TOKENS <= values["chunk_tokens"] <= model_tokens:
        yield f"`chunk_tokens` must be {FEWEST_TOKENS} to {model_tokens}, which is what the model takes"
    if not 0 <= values["overlap_tokens"] * 2 < values["chunk_tokens"]:
        yield "`overlap_tokens` must be 0 or more and less than half of `chunk_tokens`"


_KINDS = {str: "a text", int: "a whole number", bool: "true or false"}
