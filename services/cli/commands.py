"""The commands of `attest`."""

import io
import os
import sys

import click

from services.cli.ask import ask
from services.cli.audit import audit
from services.cli.backup import backup, restore
from services.cli.console import Exit, fail
from services.cli.demo import demo
from services.cli.documents import documents
from services.cli.ingest import ingest
from services.cli.lanes import lanes
from services.cli.local import down, logs, migrate, status, up
from services.cli.search import search
from services.common.settings import SettingsError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="attest")
def attest() -> None:
    """Answers from your own documents that can be checked sentence by sentence.

    Settings come from the environment: ATTEST_HOME, ATTEST_HTTP_PORT and others; see docs/configuration.md.
    """


for command in (up, down, status, logs, migrate, demo, ingest, ask, search, documents, lanes, audit, backup, restore):
    attest.add_command(command)


def run() -> None:
    """Run the command that was asked for; exit with 2 when it was called wrongly, 130 after Ctrl-C.

    Signs that the output's encoding lacks are written as escapes. Output that cannot be written is a failure.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        attest.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        sys.exit(Exit.INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except SettingsError as error:
        fail(str(error), Exit.WRONG_CALL)
    except OSError as error:
        _give_up_output()
        fail(f"Cannot write the output: {error.strerror or type(error).__name__}.")


def _give_up_output() -> None:
    """Let Python write what is left into nothing, since it tries so once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
