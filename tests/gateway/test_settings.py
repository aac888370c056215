from pathlib import Path
from typing import Any

import pytest
import yaml

from services.cli.stack.gateway import GatewaySettings, binary, command, render
from services.common.settings import SettingsError


@pytest.mark.parametrize(
    "change",
    [
        {"bind": "127.0.0.1, port_value: 1 }"},
        {"bind": "localhost"},
        {"http_port": 0},
        {"http_port": "8080"},
        {"admin_port": True},
        {"answer_port": 65536},
        {"rate_limit_per_minute": 0},
        {"allowed_hosts": ("*",)},
        {"allowed_hosts": ('a" ]\n',)},
        {"allowed_hosts": ("a.example:80",)},
        {"allowed_hosts": ("localhost",)},
        {"allowed_hosts": ("a.example", "a.example")},
    ],
)
def test_a_value_that_envoy_would_misread_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(change))):
        GatewaySettings(**change)


@pytest.mark.parametrize(
    ("bind", "host"), [("127.0.0.1", None), ("::1", None), ("192.0.2.7", "192.0.2.7"), ("2001:db8::7", "[2001:db8::7]")]
)
def test_the_address_that_is_listened_on_is_a_host_that_is_served(tmp_path: Path, bind: str, host: str | None) -> None:
    config = yaml.safe_load(render(GatewaySettings(bind=bind), tmp_path).read_text())

    (listener,) = config["static_resources"]["listeners"]
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    expected = ["localhost", "127.0.0.1", "[::1]", *([host] if host else [])]
    assert manager["route_config"]["virtual_hosts"][0]["domains"] == expected


def test_a_path_cannot_break_out_of_its_place(tmp_path: Path) -> None:
    name = 'log", x: "${bind} %\n'

    config = yaml.safe_load(render(GatewaySettings(access_log=Path(name)), tmp_path).read_text())

    (listener,) = config["static_resources"]["listeners"]
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    assert manager["access_log"][0]["typed_config"]["path"] == str(tmp_path / name)


def test_the_command_runs_envoy_itself(tmp_path: Path) -> None:
    arguments = command(tmp_path / "envoy.yaml")

    assert arguments[0] == str(binary())
    assert binary().read_bytes()[:4] == b"\x7fELF"
    assert "--disable-hot-restart" in arguments
