import hashlib
import hmac

import pytest

from services.answer.hashing import QuestionHasher

HASHER = QuestionHasher(b"0123456789abcdef")


def test_the_hash_is_versioned_and_stays_the_same() -> None:
    data = b"\0\0\0\0\0\0\0\x07default\0\0\0\0\0\0\0\x06Leave?"
    expected = hmac.new(b"0123456789abcdef", data, hashlib.sha256).hexdigest()

    assert HASHER.hash("default", "Leave?") == f"v1:{expected}"


def test_the_same_question_of_another_tenant_has_another_hash() -> None:
    assert HASHER.hash("one", "Leave?") != HASHER.hash("two", "Leave?")


def test_another_salt_gives_another_hash() -> None:
    assert HASHER.hash("one", "Leave?") != QuestionHasher(b"fedcba9876543210").hash("one", "Leave?")


def test_tenant_and_question_cannot_run_into_each_other() -> None:
    assert HASHER.hash("ab", "c") != HASHER.hash("a", "bc")


def test_spaces_around_and_the_way_an_accent_is_written_make_no_difference() -> None:
    assert HASHER.hash("one", " caf\u00e9? ") == HASHER.hash("one", "cafe\u0301?")


def test_a_short_salt_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        QuestionHasher(b"short")
