"""Settings of the local stack: what each command reads of them, and the addresses among them."""

import pytest

from services.cli.stack.launcher import LaunchError, check_ports
from services.cli.stack.settings import DataSettings, DoorSettings, HomeSettings, StackSettings
from services.common.settings import SettingsError, from_environment

EVERYWHERE = "0.0.0.0"  # noqa: S104  # read, not bound
WRONG = {
    "ATTEST_BIND": "here",
    "ATTEST_HTTP_PORT": "many",
    "ATTEST_PG_PORT": "0",
    "ATTEST_GUARD": "perhaps",
    "ATTEST_RATE_LIMIT_PER_MINUTE": "-1",
    "ATTEST_ALLOWED_HOSTS": "https://attest.example.com",
    "ATTEST_LOG_MAX_BYTES": "x",
}


@pytest.mark.parametrize(
    ("bind", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("localhost", "http://127.0.0.1:8080"),
        (EVERYWHERE, "http://127.0.0.1:8080"),
        ("::", "http://127.0.0.1:8080"),
        ("::1", "http://[::1]:8080"),
        ("[::1]", "http://[::1]:8080"),
        ("2001:DB8:0::7", "http://[2001:db8::7]:8080"),
        ("192.0.2.7", "http://192.0.2.7:8080"),
    ],
)
def test_the_gateway_is_reached_where_it_listens(bind: str, url: str) -> None:
    assert from_environment(DoorSettings, {"ATTEST_BIND": bind}).gateway_url == url


@pytest.mark.parametrize("bind", ["here", "127.0.0.1:80", "127.1", "fe80::1%eth0", "http://127.0.0.1", "0"])
def test_what_is_no_address_is_refused_in_one_sentence(bind: str) -> None:
    with pytest.raises(SettingsError, match=r"^ATTEST_BIND is not an IP address; examples: 127.0.0.1, 0.0.0.0, ::1$"):
        from_environment(DoorSettings, {"ATTEST_BIND": bind})


@pytest.mark.parametrize("hosts", ["https://a.example", "a.example:80", "*", "a_b", f"{'a' * 254}"])
def test_what_is_no_host_name_is_refused(hosts: str) -> None:
    with pytest.raises(SettingsError, match=r"^ATTEST_ALLOWED_HOSTS holds what is not a plain host name"):
        from_environment(StackSettings, {"ATTEST_ALLOWED_HOSTS": f"b.example,{hosts}"})


def test_host_names_are_read_in_any_case() -> None:
    assert from_environment(StackSettings, {"ATTEST_ALLOWED_HOSTS": "Attest.Example.com"}).allowed_hosts == (
        "attest.example.com",
    )


def test_a_stack_is_stopped_and_looked_at_whatever_else_is_set_wrong() -> None:
    assert str(from_environment(HomeSettings, {**WRONG, "ATTEST_HOME": "/h"}).home) == "/h"
    with pytest.raises(SettingsError) as caught:
        from_environment(StackSettings, WRONG)
    assert [problem.split()[0] for problem in sorted(str(caught.value).split("; ")) if "ATTEST_" in problem] == sorted(
        WRONG
    )


def test_the_gateway_is_called_whatever_is_wrong_elsewhere() -> None:
    wrong = {key: value for key, value in WRONG.items() if key not in ("ATTEST_BIND", "ATTEST_HTTP_PORT")}

    assert from_environment(DoorSettings, wrong).http_port == 8080


def test_the_data_are_read_whatever_is_wrong_elsewhere() -> None:
    wrong = {key: value for key, value in WRONG.items() if key != "ATTEST_PG_PORT"}

    assert from_environment(DataSettings, wrong).pg_port == 54329


def test_a_port_given_twice_is_refused_whatever_the_addresses(unused_tcp_port: int) -> None:
    ports = {"ATTEST_HTTP_PORT": (EVERYWHERE, unused_tcp_port), "ATTEST_ADMIN_PORT": ("127.0.0.1", unused_tcp_port)}
    with pytest.raises(LaunchError, match="ATTEST_ADMIN_PORT and ATTEST_HTTP_PORT are both"):
        check_ports(ports)


def test_an_address_of_another_machine_is_refused_by_name(unused_tcp_port: int) -> None:
    with pytest.raises(LaunchError, match=r"^192\.0\.2\.7 is no address of this machine; set ATTEST_BIND"):
        check_ports({"ATTEST_HTTP_PORT": ("192.0.2.7", unused_tcp_port)})


@pytest.mark.parametrize("home", ["/srv/$USER", '/srv/"a"', "/srv/a`b", "/srv/a\\b", "/srv/a\nb"])
def test_a_home_that_postgres_cannot_take_is_refused_before_anything_is_made(home: str) -> None:
    with pytest.raises(SettingsError, match=r"^ATTEST_HOME holds one of"):
        from_environment(HomeSettings, {"ATTEST_HOME": home})


@pytest.mark.parametrize("home", ["/srv/it's", "/srv/ümläut", "/srv/a b"])
def test_other_homes_are_taken(home: str) -> None:
    assert str(from_environment(HomeSettings, {"ATTEST_HOME": home}).home) == home
