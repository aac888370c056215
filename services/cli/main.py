"""The entrance of the `attest` command."""

import signal


def main() -> None:
    """Run the command; until its modules are loaded, Ctrl-C ends the process without a traceback."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from services.cli.commands import run

    signal.signal(signal.SIGINT, before)
    run()
