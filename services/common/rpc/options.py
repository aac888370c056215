"""Channel and server options that every hop shares, so that no limit is larger on one side than on the other.

The names are gRPC core's channel arguments (`grpc_types.h`, `channel_arg_names.h` of grpc/grpc).
"""

import json
from collections.abc import Sequence

MAX_MESSAGE_BYTES = 12 * 1024 * 1024
"""Largest message either way: an inline document of 8 MiB and its envelope (F33)."""

KEEPALIVE_SECONDS = 30

Option = tuple[str, int | str]

COMMON: tuple[Option, ...] = (
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", KEEPALIVE_SECONDS * 1000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)

SERVER: tuple[Option, ...] = (
    *COMMON,
    # Clients ping every 10 s and more; a stricter server cuts a silent stream with GOAWAY (F36).
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_ping_strikes", 0),
    # Connections are renewed so that new replicas get their share (F37); the grace outlasts the longest call.
    ("grpc.max_connection_age_ms", 300_000),
    ("grpc.max_connection_age_grace_ms", 130_000),
    # Without this a second server takes the same port in silence.
    ("grpc.so_reuseport", 0),
)

CLIENT: tuple[Option, ...] = (
    *COMMON,
    # A replica that is back is found again within seconds (F38).
    ("grpc.initial_reconnect_backoff_ms", 100),
    # In spite of its name the time that one attempt to connect may take: a busy server answers late, not never.
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    # The environment of a pod must not route calls between services through a proxy (F41).
    ("grpc.enable_http_proxy", 0),
)


def service_config(idempotent: Sequence[str]) -> Option:
    """Balance over all addresses, and try the calls of `idempotent` services again when a replica is away."""
    retry = {
        "maxAttempts": 3,
        "initialBackoff": "0.05s",
        "maxBackoff": "0.5s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    config = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [{"name": [{"service": name} for name in idempotent], "retryPolicy": retry}],
    }
    return ("grpc.service_config", json.dumps(config))
