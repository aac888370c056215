"""Keeps records where operators look: one log line, and the attributes of the request's span."""

import logging
from dataclasses import asdict
from datetime import datetime
from enum import Enum
from typing import Any

from opentelemetry import trace

from services.answer.record import Record

_log = logging.getLogger("attest.answer.record")


class RecordLog:
    """Writes each record as one structured log line and onto the current span."""

    def write(self, record: Record) -> None:
        """Write the record; its fields have the names of the contract."""
        fields = {name: _plain(value) for name, value in asdict(record).items()}
        _log.info("answer", extra={"fields": fields})
        trace.get_current_span().set_attributes({f"attest.{name}": value for name, value in fields.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, datetime):
        return value.isoformat()
    return "" if value is None else value
