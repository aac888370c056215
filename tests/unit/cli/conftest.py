"""A scripted gateway, and the command against it."""

from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from services.cli.commands import attest
from tests.unit.cli.gateway import ScriptedGateway, scripted_gateway

Run = Callable[..., Result]


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    with scripted_gateway() as running:
        yield running


@pytest.fixture
def run(gateway: ScriptedGateway) -> Run:
    """Return a way to run the command against the scripted gateway."""

    def run_command(*arguments: str, stdin: str | None = None) -> Result:
        environment = {"ATTEST_HTTP_PORT": gateway.port, "NO_COLOR": None}
        return CliRunner().invoke(attest, arguments, input=stdin, env=environment, catch_exceptions=False)

    return run_command
