"""What of a hostile text reaches a terminal."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from services.cli.console import wrapped
from services.cli.printable import escaped_json, one_line, printable

HOSTILE = [
    pytest.param("\x1b[31mred\x1b[0m", id="colour"),
    pytest.param("\x1b]0;title\x07", id="window title"),
    pytest.param("\x1b]52;c;cm0gLXJm\x07", id="clipboard"),
    pytest.param("\x9b2J", id="C1 control sequence"),
    pytest.param("fine\rfake", id="carriage return"),
    pytest.param("\x08\x08\x08", id="backspace"),
    pytest.param("\N{RIGHT-TO-LEFT OVERRIDE}fdp.exe", id="reversed"),
    pytest.param("\U000e0041\U000e0042", id="invisible tags"),
    pytest.param("\ud800", id="lone surrogate"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    for shown in (printable(text), one_line(text), wrapped("x ", text)):
        assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c != "\n"]


@pytest.mark.parametrize("text", HOSTILE)
def test_json_holds_the_exact_text_and_nothing_that_steers_a_terminal(text: str) -> None:
    document = escaped_json(json.dumps({"text": text}, ensure_ascii=False))

    assert json.loads(document) == {"text": text}
    assert not [c for c in document if unicodedata.category(c) in {"Cc", "Cs"}]


def test_scripts_and_emoji_stay_as_they_are() -> None:
    text = "Müller 日本 ±0.5 °C 👩\N{ZERO WIDTH JOINER}🔬"

    assert printable(text) == text


def test_lines_stay_and_tabs_open() -> None:
    assert printable("a\tb\nc") == "a    b\nc"
    assert one_line(" a\tb\n\nc ") == "a b c"


def test_the_label_stands_once_and_its_space_before_the_other_lines() -> None:
    assert wrapped("Label ", "one two three four five", 26).splitlines() == ["Label one two three four", "      five"]


def test_a_text_without_spaces_is_folded() -> None:
    assert [len(line) for line in wrapped("", "x" * 100, 40).splitlines()] == [40, 40, 20]


def test_wide_characters_count_twice() -> None:
    assert [len(line) for line in wrapped("", "日" * 30, 40).splitlines()] == [20, 10]


def test_paragraphs_stay_apart() -> None:
    assert wrapped("", "one\n\ntwo", 40) == "one\n\ntwo"


@given(st.text(max_size=200))
def test_no_line_is_ever_wider_than_the_terminal(text: str) -> None:
    assert all(cell_len(line) <= 40 for line in wrapped("Label ", text, 40).split("\n"))
