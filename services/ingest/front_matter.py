"""Front matter: the flat `key: value` lines between two `---` at the top of a Markdown page."""

import json
import re
from dataclasses import dataclass, field

_FENCE = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"(?P<key>\w[\w ./:-]*?|\"[^\"]+\"|'[^']+'):(?:[ \t]+(?P<value>.*))?$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_BLOCK_SCALAR = re.compile(r"[>|][+-]?\d?$")

MAX_KEYS, MAX_KEY, MAX_VALUE = 64, 64, 1024
"""Bounds of what is kept: keys, characters of a key, characters of a value."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Scalars of the front matter, and where the page goes on after it."""

    end: int = 0
    values: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Read the scalars at the top of `text`; lists and nested values are passed over.

    What does not read as front matter stays text, and a warning says so.
    """
    opened = _FENCE.match(text)
    closed = _CLOSE.search(text, opened.end()) if opened else None
    if not opened or not closed:
        return FrontMatter()
    try:
        values = _scalars(text[opened.end() : closed.start()].splitlines())
    except ValueError:
        return FrontMatter(warnings=("front matter is not flat `key: value` lines and was kept as text",))
    kept = {key: value for key, value in values.items() if len(key) <= MAX_KEY and len(value) <= MAX_VALUE}
    kept = dict(list(kept.items())[:MAX_KEYS])
    lost = len(values) - len(kept)
    return FrontMatter(
        end=closed.end(),
        values=kept,
        warnings=(f"{lost} values of the front matter are too long or too many and were left out",) if lost else (),
    )


def _scalars(lines: list[str]) -> dict[str, str]:
    """Return the scalars; raise ValueError on a line that belongs to no key."""
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0] in " \t" or line.startswith("- ") or line == "-":
            if not entries:
                raise ValueError("a value without a key")
            entries[-1][1].append(line.strip())
        elif entry := _KEY.match(line):
            entries.append((entry["key"].strip("\"'"), [(entry["value"] or "").strip()]))
        else:
            raise ValueError("neither a key nor a value")
    scalars = ((key, _scalar(value)) for key, value in entries)
    return {key: value for key, value in scalars if value}


def _scalar(lines: list[str]) -> str:
    """Return the value as text; nothing for lists, maps, anchors and empty values."""
    first = lines[0]
    if _BLOCK_SCALAR.match(first):
        return " ".join(lines[1:])
    if not first or (first[0] in "[{&*!-" and not re.match(r"-\S", first)):
        return ""
    value = " ".join(lines)
    if value[0] == '"':
        return _double_quoted(value)
    if value[0] == "'":
        return value[1 : value.rfind("'")].replace("''", "'")
    return _COMMENT.sub("", value).rstrip()


def _double_quoted(value: str) -> str:
    text = value[: value.rfind('"') + 1]
    try:
        return str(json.loads(text, strict=False))
    except json.JSONDecodeError:
        return text.strip('"')
