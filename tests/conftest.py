"""Settings of the whole test run, made before anything imports gRPC."""

import os

# gRPC's core writes a line to stderr whenever a test stops a server under a client.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
