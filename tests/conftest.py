"""Settings of the whole test run, made before anything imports gRPC."""

import os
import signal

from hypothesis import settings

# gRPC's core writes a line to stderr whenever a test stops a server under a client.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

# How long an example takes says more about the machine than about the code.
settings.register_profile("attest", deadline=None)
settings.load_profile("attest")

# A shell's background job ignores Ctrl-C, and hands that on to the commands that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
