"""Front matter."""

import pytest

from services.ingest.front_matter import MAX_VALUE, read_front_matter


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ("title: Leave\nweight: 3", {"title": "Leave", "weight": "3"}),
        ("title: \"A \\\"b\\\" c\"\nother: 'it''s'", {"title": 'A "b" c', "other": "it's"}),
        ("title: C# and F # a comment", {"title": "C# and F"}),
        ("cSpell:ignore: words of it", {"cSpell:ignore": "words of it"}),
        ("link: https://example.org/a#b", {"link": "https://example.org/a#b"}),
        ("description: >-\n  one\n  two\ntitle: T", {"description": "one two", "title": "T"}),
        ("description: one\n  two", {"description": "one two"}),
        ("tags:\n  - a\n  - b\ntitle: T", {"title": "T"}),
        ("tags:\n- a\n- b\ntitle: T", {"title": "T"}),
        ("tags: [a, b]\nmap: {a: 1}\nref: *x\ntitle: T", {"title": "T"}),
        ("# a comment\n\ntitle: T", {"title": "T"}),
        ("empty:\ntitle: T", {"title": "T"}),
        ("temperature: -5", {"temperature": "-5"}),
        ("", {}),
    ],
)
def test_scalars_are_read_and_the_rest_is_passed_over(lines: str, values: dict[str, str]) -> None:
    text = f"---\n{lines}\n---\nBody"
    front = read_front_matter(text)

    assert front.values == values
    assert front.warnings == ()
    assert text[front.end :] == "\nBody"


@pytest.mark.parametrize("text", ["Body", "---\nno end\n", "\n---\ntitle: T\n---\n", "----\ntitle: T\n---\n", ""])
def test_a_page_without_front_matter_has_none(text: str) -> None:
    front = read_front_matter(text)

    assert (front.end, front.values, front.warnings) == (0, {}, ())


@pytest.mark.parametrize("lines", ["Just prose, no key.", "  indented: first", "title: T\nand a stray line"])
def test_what_does_not_read_stays_text_with_a_warning(lines: str) -> None:
    front = read_front_matter(f"---\n{lines}\n---\nBody")

    assert (front.end, front.values) == (0, {})
    assert "kept as text" in front.warnings[0]


def test_a_value_over_the_bound_is_left_out_with_a_warning() -> None:
    front = read_front_matter(f"---\nlong: {'x' * (MAX_VALUE + 1)}\ntitle: T\n---\n")

    assert front.values == {"title": "T"}
    assert "left out" in front.warnings[0]
