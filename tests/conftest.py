"""Settings of the whole test run, made before anything imports gRPC."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).resolve().parent
SHARING_FOLDERS = ("database", "gateway")
"""Folders whose tests share one server for the session."""

# gRPC's core writes a line to stderr whenever a test stops a server under a client.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

# How long an example takes says more about the machine than about the code.
settings.register_profile("attest", deadline=None)
settings.load_profile("attest")

# A shell's background job ignores Ctrl-C, and hands that on to the commands that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what shares a server on one worker and in its order: a folder's one gateway or database, a file's stack."""
    for item in items:
        place = item.path.relative_to(TESTS)
        group = place.parts[0] if place.parts[0] in SHARING_FOLDERS else str(place)
        item.add_marker(pytest.mark.xdist_group(group))
