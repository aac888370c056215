"""Structured logs: one JSON object a line, with class and place of a fault and never its text."""

import json
import logging
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from opentelemetry import trace


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON; `extra={"fields": {…}}` adds to it."""

    def __init__(self, service: str) -> None:
        """Name the service that every line carries."""
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. Of an exception only class and frames are kept: its text may hold what a user asked."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "service": self._service,
            "event": record.getMessage(),
        }
        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            line["trace_id"] = trace.format_trace_id(span.trace_id)
        fields: Mapping[str, Any] = getattr(record, "fields", {})
        line.update(fields)
        if record.exc_info and record.exc_info[1] is not None:
            line["fault"] = fault(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def fault(error: BaseException) -> dict[str, Any]:
    """Describe an exception without its text: class, and the frames of its innermost ten calls."""
    frames = [
        f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)[-10:]
    ]
    described: dict[str, Any] = {"class": type(error).__qualname__, "frames": frames}
    cause = error.__cause__ or error.__context__
    if cause is not None:
        described["cause"] = type(cause).__qualname__
    return described


def configure(service: str, level: str = "INFO", stream: TextIO = sys.stderr) -> None:
    """Send every log of the process to `stream` as JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter(service))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # Libraries that would write what they are given when everything is to be logged.
    for noisy in ("asyncio", "grpc", "httpx2", "httpcore2", "markdown_it", "openai", "opentelemetry"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # grpc.aio logs the text of an unhandled exception; the funnel has already logged what may be kept of it.
    logging.getLogger("grpc._cython.cygrpc").setLevel(logging.CRITICAL)
