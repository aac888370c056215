"""What the pages tell a reader to type works, and gives what the page says."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scripts.pages.errors import DocumentedReason, read_reasons
from services.cli.stack.settings import StackSettings
from tests.stack.local_stack import BIN, PORTS, LocalStack

pytestmark = pytest.mark.stack

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CAPITALS = re.compile(r"[A-Z_]{2,}")
END = "\x1e"
MORE = "…"
PAGE_SECONDS = 120
# `make demo` and `make test` cannot run inside a test; that their targets are there can be seen.
PREAMBLE = 'set -eu -o pipefail\nmake() { command make --dry-run "$@" >&2; }\n'


@dataclass(frozen=True)
class Example:
    """A block to type and the output that the page states, if it does."""

    typed: str
    stated: Any


def examples_of(page: Path) -> list[Example]:
    """The `sh` blocks of a page, each with the `json` block after it."""
    blocks = [*FENCE.findall(page.read_text()), ("", "")]
    return [
        Example(text, json.loads(after) if kind_after == "json" else None)
        for (kind, text), (kind_after, after) in pairwise(blocks)
        if kind == "sh"
    ]


def run_all(stack: LocalStack, examples: list[Example]) -> list[str]:
    """Type all blocks into one shell, as a reader would, and return what each said."""
    script = PREAMBLE + f"printf '{END}'\n".join(example.typed for example in examples)
    for name in PORTS:
        port = getattr(StackSettings(), f"{name.lower()}_port")
        script = re.sub(rf"(127\.0\.0\.1|localhost):{port}\b", rf"\1:{stack.ports[name]}", script)
    done = subprocess.run(
        ["/bin/bash", "-c", script.replace(".venv/bin/", f"{BIN}/")],
        cwd=ROOT,
        env=stack.environment,
        capture_output=True,
        text=True,
        timeout=PAGE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout.rpartition(END)[2] + done.stderr
    return done.stdout.split(END)


def differences(stated: Any, said: Any, at: str = "") -> Iterator[str]:
    """Names, types and words in capitals that differ; `…` stands for any further names."""
    if isinstance(stated, dict) and isinstance(said, dict):
        names = stated.keys() - {MORE}
        surplus = set() if MORE in stated else said.keys() - names
        yield from (f"{at}.{name}: on one side only" for name in sorted(names - said.keys() | surplus))
        for name in names & said.keys():
            yield from differences(stated[name], said[name], f"{at}.{name}")
    elif isinstance(stated, list) and isinstance(said, list):
        if bool(stated) != bool(said):
            yield f"{at}: {len(stated)} stated, {len(said)} said"
        for item in said if stated else []:
            yield from differences(stated[0], item, f"{at}[]")
    elif kind(stated) != kind(said) or (isinstance(stated, str) and CAPITALS.fullmatch(stated) and stated != said):
        yield f"{at}: {stated!r} stated, {said!r} said"


def kind(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


@pytest.mark.parametrize("page", ["README.md", "docs/api.md"])
def test_the_examples_of_a_page_do_what_it_says(own_stack: LocalStack, page: str) -> None:
    """The session's stack will not do: a page may stop what it started."""
    examples = examples_of(ROOT / page)
    own_stack.up()

    outputs = run_all(own_stack, examples)

    assert len(outputs) == len(examples) >= 1
    wrong = [(example.typed, list(problems(example, said))) for example, said in zip(examples, outputs, strict=True)]
    assert [found for found in wrong if found[1]] == []


def problems(example: Example, said: str) -> Iterator[str]:
    """What a block said beside what the page states."""
    if '"error":' in said and not (example.stated and "error" in example.stated):
        yield said
    elif example.stated is not None:
        yield from differences(example.stated, json.loads(said))


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2, MORE: MORE}, {"a": 1}),
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": "YES"}, {"a": "NO"}),
        ([{"a": 1}], []),
        ([], [1]),
        ([{"a": 1}], [{"a": 1}, {"b": 1}]),
        ({"a": {}}, {"a": []}),
    ],
)
def test_a_reply_of_another_shape_is_noticed(stated: Any, said: Any) -> None:
    assert list(differences(stated, said))


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"a": 1, "b": "f0a1…"}, {"a": 2.5, "b": "other"}),
        ({"a": 1, MORE: MORE}, {"a": 1, "b": 2}),
        ([{"a": 1}], [{"a": 1}, {"a": 2}]),
    ],
)
def test_a_reply_of_the_same_shape_is_taken(stated: Any, said: Any) -> None:
    assert list(differences(stated, said)) == []


def documented_requests() -> list[DocumentedReason]:
    return [reason for reason in read_reasons(ROOT) if reason.rest_example]


@pytest.mark.parametrize("reason", documented_requests(), ids=lambda reason: reason.name)
def test_the_example_of_a_reason_gives_that_reason(stack: LocalStack, reason: DocumentedReason) -> None:
    assert reason.rest_example
    method, path, body = reason.rest_example
    command = ["curl", "-s", "-X", method, "-H", "content-type: application/json", f"{stack.url}{path}"]

    said = subprocess.run(
        [*command, *(["-d", body] if body else [])], capture_output=True, text=True, timeout=30, check=True
    )

    reply = json.loads(said.stdout)
    assert reply["reason"] == reason.name
    assert reply["code"] in [code for code, _ in reason.codes]
