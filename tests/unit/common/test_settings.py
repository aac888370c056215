"""Settings say precisely what is wrong, and never print a secret."""

from dataclasses import dataclass, field

import pytest

from services.common.identity import Scope
from services.common.settings import Secret, SettingsError, from_environment, masked


def read_host(raw: str) -> str:
    if ":" in raw:
        raise ValueError("holds a port")
    return raw.lower()


@dataclass(frozen=True, kw_only=True)
class Example:
    port: int = field(default=50051, metadata={"least": 1, "most": 65535})
    ratio: float = field(default=1.0, metadata={"least": 0.0, "most": 1.0})
    level: str = field(default="INFO", metadata={"choices": ("DEBUG", "INFO")})
    scopes: frozenset[Scope] = frozenset({Scope.ASK})
    hosts: tuple[str, ...] = field(default=(), metadata={"read": read_host})
    door: str = field(default="door", metadata={"read": read_host})
    endpoint: str | None = None
    dsn: Secret
    key: bytes = field(repr=False)


GOOD = {"ATTEST_DSN": "postgresql://u:hunter2@h/d", "ATTEST_KEY": "ab" * 32}


def test_defaults_hold_where_nothing_is_said() -> None:
    settings = from_environment(Example, GOOD)

    assert (settings.port, settings.ratio, settings.endpoint, settings.scopes) == (50051, 1.0, None, {Scope.ASK})


def test_an_empty_variable_counts_as_absent() -> None:
    assert from_environment(Example, {**GOOD, "ATTEST_PORT": ""}).port == 50051


def test_values_are_read_by_type() -> None:
    given = {
        "ATTEST_PORT": "6000",
        "ATTEST_SCOPES": "ask, ingest",
        "ATTEST_HOSTS": "A.example,b.example",
        "ATTEST_DOOR": "D",
    }
    settings = from_environment(Example, {**GOOD, **given})

    assert settings.port == 6000
    assert settings.scopes == {Scope.ASK, Scope.INGEST}
    assert settings.hosts == ("a.example", "b.example")
    assert settings.door == "d"


def test_everything_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        from_environment(Example, {})

    assert str(caught.value) == "ATTEST_DSN is missing and has no default; ATTEST_KEY is missing and has no default"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("ATTEST_PORT", "many", "is not a whole number"),
        ("ATTEST_PORT", "70000", "is outside 1 to 65535"),
        ("ATTEST_RATIO", "nan", "is outside 0.0 to 1.0"),
        ("ATTEST_LEVEL", "LOUD", "is not one of DEBUG, INFO"),
        ("ATTEST_HOSTS", "a.example,b.example:80", "holds a port"),
        ("ATTEST_DOOR", "d:80", "holds a port"),
        ("ATTEST_SCOPES", "ask,fly", "is not one of ask, ingest, admin"),
        ("ATTEST_KEY", "zz", "is not hex; make one with: openssl rand -hex 32"),
        ("ATTEST_KEY", "abcd", "has less than 32 bytes; make one with: openssl rand -hex 32"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} {problem}$"):
        from_environment(Example, {**GOOD, name: value})


def test_a_wrong_secret_is_not_quoted() -> None:
    with pytest.raises(SettingsError) as caught:
        from_environment(Example, {**GOOD, "ATTEST_KEY": "hunter2"})

    assert "hunter2" not in str(caught.value)


def test_secrets_print_as_stars() -> None:
    settings = from_environment(Example, GOOD)

    shown = f"{settings} {settings!r} {settings.dsn} {settings.dsn!r} {masked(settings)}"

    assert "hunter2" not in shown
    assert repr(settings.key) not in shown
    assert settings.dsn.reveal() == "postgresql://u:hunter2@h/d"
