"""The page of settings, made of the settings classes and the docstring under each field."""

import ast
import inspect
import textwrap
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click

from services.answer.main import AnswerSettings
from services.cli.commands import attest
from services.cli.stack.gateway import REPOSITORY, GatewaySettings
from services.cli.stack.settings import StackSettings
from services.common.service import ServiceSettings
from services.common.settings import PREFIX
from services.ingest.main import IngestSettings
from services.retrieval.main import RetrievalSettings

_HEAD = """\
# Configuration

Made from the settings classes by `make docs`. Everything is read from the environment once, at start; a wrong value
ends the start with the names of all variables that are wrong, and never with a value. Lists are comma-separated; truth
is `true` or `false`; keys are hex of 32 bytes or more (`openssl rand -hex 32`).
"""

SECTIONS: list[tuple[str, str, type[Any], type[Any] | None]] = [
    (
        "The local stack",
        "Read by `attest`. The stack hands its own environment on, so the variables of the services below can be set"
        " for `attest up` too; ports, database addresses, keys and the guard it sets for them itself.",
        StackSettings,
        None,
    ),
    (
        "Every service",
        "Read by ingest, retrieval and answer. The local stack gives an anonymous caller every scope unless"
        " `ATTEST_ANONYMOUS_SCOPES` says otherwise.",
        ServiceSettings,
        None,
    ),
    ("Ingest", "Read by `attest-ingest`.", IngestSettings, ServiceSettings),
    ("Retrieval", "Read by `attest-retrieval`.", RetrievalSettings, ServiceSettings),
    ("Answer", "Read by `attest-answer`.", AnswerSettings, ServiceSettings),
]

_COMMANDS = """\
## Commands

Options of a command that a variable can give.
"""

_GATEWAY = """\
## Limits of the gateway

The gateway reads no environment: `attest` renders `gateway/envoy.yaml` with the values above and these, which are
`GatewaySettings` in `services/cli/stack/gateway.py`.
"""


def page() -> str:
    """Return the page in Markdown."""
    sections = [_section(*section) for section in SECTIONS]
    passed = {field.name for field in fields(StackSettings)} | {"access_log", "descriptor"}
    rows = [_row(name, row) for name, row in _described(GatewaySettings).items() if name not in passed]
    commands = f"{_COMMANDS}\n{_command_table(attest)}"
    return "\n".join([_HEAD, *sections, commands, f"{_GATEWAY}\n{_table('Field', rows)}"])


def _section(title: str, text: str, settings: type[Any], base: type[Any] | None) -> str:
    inherited = {field.name for field in fields(base)} if base else set()
    rows = [_row(PREFIX + name.upper(), row) for name, row in _described(settings).items() if name not in inherited]
    return f"## {title}\n\n{text}\n\n{_table('Variable', rows)}"


def _command_table(group: click.Group) -> str:
    options = [
        (name, option)
        for name, command in sorted(group.commands.items())
        for option in command.params
        if isinstance(option, click.Option) and option.envvar
    ]
    rows = [f"| `{option.envvar}` | `attest {name} {option.opts[0]}` | {option.help} |" for name, option in options]
    return "\n".join(["| Variable | Option | Meaning |", "|---|---|---|", *rows, ""])


def _table(first: str, rows: list[str]) -> str:
    return "\n".join([f"| {first} | Default | Bounds | Meaning |", "|---|---|---|---|", *rows, ""])


def _row(name: str, described: tuple[Field[Any], Any, str]) -> str:
    field, hint, meaning = described
    return f"| `{name}` | {_default(field)} | {_bounds(field, hint)} | {meaning} |"


def _described(settings: type[Any]) -> dict[str, tuple[Field[Any], Any, str]]:
    """Return field, type and docstring by name; raise KeyError for a field without a docstring."""
    hints = get_type_hints(settings)
    texts: dict[str, str] = {}
    for kind in reversed(settings.__mro__[:-1]):
        texts |= _field_docstrings(kind)
    return {field.name: (field, hints[field.name], texts[field.name]) for field in fields(settings)}


def _field_docstrings(kind: type[Any]) -> dict[str, str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101  # the source of a class is one
    found = {}
    for statement, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = after.value if isinstance(after, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                found[statement.target.id] = " ".join(text.value.split()).replace("|", "\\|")
    return found


def _default(field: Field[Any]) -> str:
    if field.name == "home":
        return "`/var/lib/attest` for root, else `$XDG_STATE_HOME/attest` or `~/.local/state/attest`"
    if field.default is MISSING and field.default_factory is MISSING:
        return "required"
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if value is None or value == "" or value == () or value == frozenset():
        return "none"
    if isinstance(value, frozenset | tuple):
        return f"`{','.join(sorted(value))}`"
    if isinstance(value, Path) and value.is_relative_to(REPOSITORY):
        value = value.relative_to(REPOSITORY)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" if value > 65535 else str(value)
    return f"`{value}`"


def _bounds(field: Field[Any], hint: Any) -> str:
    choices = field.metadata.get("choices") or next(
        (tuple(kind) for kind in (hint, *get_args(hint)) if isinstance(kind, type) and issubclass(kind, StrEnum)), ()
    )
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    if "least" in field.metadata:
        return f"{field.metadata['least']:,} to {field.metadata['most']:,}".replace("65,535", "65535")
    return ""
