import json
import logging

import pytest

from services.answer.model import Outcome
from services.answer.record import GuardVerdict, Record
from services.answer.record_log import RecordLog
from tests.fakes.answer import NOON


def test_a_record_is_one_line_with_the_names_of_the_contract(caplog: pytest.LogCaptureFixture) -> None:
    record = Record("0" * 32, NOON, outcome=Outcome.BLOCKED, guard_verdict=GuardVerdict.REFUSED, guard_rules=("a", "b"))

    with caplog.at_level(logging.INFO):
        RecordLog().write(record)

    [line] = caplog.records
    fields = line.__dict__["fields"]
    assert line.getMessage() == "answer"
    assert fields["outcome"] == "BLOCKED"
    assert fields["guard_verdict"] == "REFUSED"
    assert json.loads(json.dumps(fields))["guard_rules"] == ["a", "b"]


def test_a_failed_request_has_an_empty_outcome(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        RecordLog().write(Record("0" * 32, NOON, reason="INTERNAL"))

    fields = caplog.records[0].__dict__["fields"]
    assert (fields["outcome"], fields["reason"], fields["guard_verdict"]) == ("", "INTERNAL", "")
