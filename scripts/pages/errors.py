"""The page of error reasons, made of the comments of protos/attest/errors/v1/error_reason.proto."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

PROTO = "attest/errors/v1/error_reason.proto"
CODE = re.compile(r"([A-Z_]+) \(([^)]+)\)")
REST_EXAMPLE = re.compile(r"(GET|POST|DELETE) (/\S*)(?: (\{.*))?")
_FIRST_MESSAGE_ENUM_VALUES = [4, 0, 4, 0, 2]

_HEAD = """\
# Errors

Made from `protos/attest/errors/v1/error_reason.proto` by `make docs`.

A good request ends with an outcome: `ANSWERED`, `NO_EVIDENCE`, `LOW_SUPPORT` or `BLOCKED`. Everything else is an error
with a canonical code and one of the reasons below. Over REST:

```json
{"error": "question is blank; ask something.", "code": "INVALID_ARGUMENT", "reason": "QUESTION_BLANK"}
```

Over gRPC it is a status of that code, with a `google.rpc.ErrorInfo` of domain `attest` and that reason in its details;
`metadata` holds the variables of the message. What the gateway itself refuses a gRPC caller has code and message alone.
Messages may change; codes and reasons stay. New reasons may come: treat one that you do not know by its code. Try again
only after `UNAVAILABLE`, `ABORTED`, `RESOURCE_EXHAUSTED` and `DEADLINE_EXCEEDED`, with a pause.
"""


@dataclass(frozen=True, slots=True)
class DocumentedReason:
    """One reason as its comment describes it."""

    name: str
    when: str
    codes: tuple[tuple[str, str], ...]
    """Canonical code and HTTP status, or where the code is met when it has no status."""
    example: str
    do: str

    @property
    def rest_example(self) -> tuple[str, str, str] | None:
        """Return method, path and body when the example is a REST request."""
        found = REST_EXAMPLE.fullmatch(self.example)
        return (found[1], found[2], found[3] or "") if found else None


def read_reasons(root: Path) -> list[DocumentedReason]:
    """Compile the protos below `root` and return the reasons in the order of the file.

    Raises ValueError when a comment lacks one of its parts.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "descriptor.binpb"
        command = [str(root / "scripts/protoc.sh"), "--include_source_info", f"--descriptor_set_out={out}"]
        subprocess.run(command, check=True)
        files = FileDescriptorSet.FromString(out.read_bytes()).file
    return _documented(next(file for file in files if file.name == PROTO))


def page(reasons: list[DocumentedReason]) -> str:
    """Return the page in Markdown."""
    return "\n".join([_HEAD, *(_section(reason) for reason in reasons)])


def _documented(file: FileDescriptorProto) -> list[DocumentedReason]:
    places = [place for place in file.source_code_info.location if place.path[:-1] == _FIRST_MESSAGE_ENUM_VALUES]
    comments = {place.path[-1]: place.leading_comments for place in places}
    values = file.message_type[0].enum_type[0].value
    return [_parse(value.name, comments[at]) for at, value in enumerate(values) if value.number]


def _parse(name: str, comment: str) -> DocumentedReason:
    parts = re.fullmatch(r"\s*(.+?)\s*Code: (.+?)\s*Example: (.+?)\s*Do: (.+?)\s*", comment, re.DOTALL)
    if not parts:
        raise ValueError(f"the comment of {name} must say when, then Code, Example and Do")
    when, code, example, do = (" ".join(part.split("\n ")) for part in parts.groups())
    codes = tuple((found[1], found[2]) for found in CODE.finditer(code))
    if not codes or " or ".join(f"{name} ({status})" for name, status in codes) != code:
        raise ValueError(f"the Code of {name} must read like: ABORTED (409) or UNAVAILABLE (503)")
    return DocumentedReason(name, when, codes, example, do)


def _section(reason: DocumentedReason) -> str:
    codes = " or ".join(f"`{code}` ({status})" for code, status in reason.codes)
    example = f"`{reason.example}`" if reason.rest_example else reason.example[0].upper() + reason.example[1:]
    return f"## `{reason.name}`\n\n{reason.when}\n\n- Code: {codes}\n- Example: {example}\n- Do: {reason.do}\n"
