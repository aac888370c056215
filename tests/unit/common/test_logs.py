"""Log lines are JSON, and of a fault only class and place are kept."""

import io
import json
import logging
from typing import Any

from services.common import logs


def _logged(log: Any) -> dict[str, Any]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter("test"))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    log(logger)
    line: dict[str, Any] = json.loads(stream.getvalue())
    return line


def test_a_line_carries_service_event_and_fields() -> None:
    line = _logged(lambda logger: logger.info("rpc", extra={"fields": {"code": "OK", "duration_ms": 1.5}}))

    assert line["service"] == "test"
    assert (line["level"], line["event"], line["code"], line["duration_ms"]) == ("info", "rpc", "OK", 1.5)


def test_a_fault_keeps_class_and_frames_and_not_its_text() -> None:
    """F109: the text of an exception can hold what a user asked."""

    def log(logger: logging.Logger) -> None:
        try:
            raise ValueError("quetzalcoatl")
        except ValueError:
            logger.exception("fault")

    line = _logged(log)

    assert line["fault"]["class"] == "ValueError"
    assert any("test_logs.py" in frame for frame in line["fault"]["frames"])
    assert "quetzalcoatl" not in json.dumps(line)


def test_a_line_break_in_a_message_stays_one_line() -> None:
    line = _logged(lambda logger: logger.info("first\nsecond"))

    assert line["event"] == "first\nsecond"
