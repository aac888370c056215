"""Markdown without its marks: the text that a reader of the rendered page would see."""

import html
import re
from collections.abc import Mapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_MARKED = re.compile(r"[\\`*_~\[<&]")
"""What begins any markup inside a paragraph; a text without it need not be parsed."""
_LINE_END = re.compile(r" +\n")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_MARKERS = re.compile(r"\s*(?:>[ \t]?|(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+)+")
_DELIMITER_ROW = re.compile(r"^[ \t>]*[|:-][ \t|:-]*$", re.MULTILINE)
_PIPE = re.compile(r"(?<!\\)\|")
_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[!?][^<>]*>")


def inline_text(raw: str, references: Mapping[str, object]) -> str:
    """Return the text of a paragraph or a piece of one: links as their text, images as their description."""
    marks = _MARKERS.match(raw)
    unquoted = _QUOTE.sub("", raw[marks.end() :] if marks else raw)
    if not _MARKED.search(unquoted):
        return _LINE_END.sub("\n", unquoted)
    tokens = _PARSER.parseInline(unquoted, {"references": references})
    return "".join(_texts(tokens[0].children or ())) if tokens else ""


def table_text(raw: str, references: Mapping[str, object]) -> str:
    """Return the cells of table rows, a line a row."""
    rows = _DELIMITER_ROW.sub("", raw).split("\n")
    return "\n".join(inline_text(_PIPE.sub(" ", row).strip(), references) for row in rows)


def code_text(raw: str) -> str:
    """Return code without the marks of a quote around it."""
    return _QUOTE.sub("", raw)


def html_text(raw: str) -> str:
    """Return the text between the tags; comments, scripts and styles are left out."""
    return html.unescape(_TAG.sub(" ", _HIDDEN.sub(" ", _without_comments(_QUOTE.sub("", raw)))))


def _texts(tokens: Sequence[Token]) -> list[str]:
    texts = []
    for token in tokens:
        if token.type == "image":
            texts.extend(_texts(token.children or ()))
        elif token.type in {"softbreak", "hardbreak"}:
            texts.append("\n")
        elif token.type != "html_inline":
            texts.append(token.content)
    return texts


def _without_comments(raw: str) -> str:
    kept, at = [], 0
    while (start := raw.find("<!--", at)) >= 0:
        kept.append(raw[at:start])
        end = raw.find("-->", start + 4)
        at = len(raw) if end < 0 else end + 3
    kept.append(raw[at:])
    return " ".join(kept)
