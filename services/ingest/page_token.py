"""Page tokens: opaque to the caller, and refused unless they are exactly what a list gave out."""

import base64
import json
from datetime import UTC, datetime, timedelta

from services.common.errors import InvalidArgumentError, Reason
from services.ingest.model import Position

MAX_TOKEN = 512
"""Characters that are looked at; what lists give out is shorter."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def after_document(lane: str | None, position: Position) -> str:
    """Return the token of the documents behind `position` in a list of that lane."""
    return _encode("documents", lane or "", str((position.updated_at - _EPOCH) // _MICROSECOND), position.document_id)


def document_position(token: str, lane: str | None) -> Position:
    """Return the position; raise InvalidArgumentError with FIELD_INVALID, for a token of another lane's list too."""
    of_lane, micros, document_id = _decode(token, "documents", 3)
    if of_lane != (lane or "") or not (micros.isdecimal() and len(micros) <= 16):
        raise _invalid()
    return Position(_EPOCH + int(micros) * _MICROSECOND, document_id)


def after_lane(name: str) -> str:
    """Return the token of the lanes behind the one of that name."""
    return _encode("lanes", name)


def lane_name(token: str) -> str:
    """Return the lane's name; raise InvalidArgumentError with FIELD_INVALID."""
    return _decode(token, "lanes", 1)[0]


def after_space(space_id: int) -> str:
    """Return the token of the embedding spaces behind the one of that id."""
    return _encode("spaces", str(space_id))


def space_id(token: str) -> int:
    """Return the space's id; raise InvalidArgumentError with FIELD_INVALID."""
    digits = _decode(token, "spaces", 1)[0]
    if not (digits.isdecimal() and len(digits) <= 9):
        raise _invalid()
    return int(digits)


def _encode(*fields: str) -> str:
    text = json.dumps(fields, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(token: str, kind: str, count: int) -> list[str]:
    if len(token) > MAX_TOKEN:
        raise _invalid()
    try:
        fields = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError:
        raise _invalid() from None
    if not isinstance(fields, list) or len(fields) != count + 1 or not all(isinstance(part, str) for part in fields):
        raise _invalid()
    if fields[0] != kind or "\0" in "".join(fields) or _encode(*fields) != token:
        raise _invalid()
    return fields[1:]


def _invalid() -> InvalidArgumentError:
    return InvalidArgumentError(
        Reason.FIELD_INVALID,
        "page_token is not one that this list gave out; send next_page_token as it came, with the same filter.",
        field="page_token",
    )
