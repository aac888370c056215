"""Settings that every service has, and the address and admission made of them."""

from dataclasses import dataclass, field

from services.common.identity import Scope
from services.common.rpc.server import ServerSettings


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """What every service reads from the environment."""

    listen: str = "127.0.0.1"
    """Address to listen on."""
    anonymous_scopes: frozenset[Scope] = frozenset({Scope.ASK})
    """What a caller without an identity may do: comma-separated scopes."""
    log_level: str = field(default="INFO", metadata={"choices": ("DEBUG", "INFO", "WARNING", "ERROR")})
    """Least level that is logged."""
    otlp_endpoint: str | None = None
    """OTLP gRPC endpoint that traces go to; none are sent without it. Example: `http://127.0.0.1:4317`."""
    trace_ratio: float = field(default=1.0, metadata={"least": 0.0, "most": 1.0})
    """Share of traces that are kept where the caller has not decided."""
    drain_pause_seconds: float = field(default=0.0, metadata={"least": 0.0, "most": 60.0})
    """Seconds between saying NOT_SERVING and refusing calls; a cluster wants a few."""
    drain_grace_seconds: float = field(default=20.0, metadata={"least": 0.0, "most": 120.0})
    """Seconds that running calls get to end."""


def server_settings(settings: ServiceSettings, port: int) -> ServerSettings:
    """Return how the service on `port` listens, admits and ends."""
    return ServerSettings(
        address=f"{settings.listen}:{port}",
        anonymous_scopes=settings.anonymous_scopes,
        drain_pause_seconds=settings.drain_pause_seconds,
        drain_grace_seconds=settings.drain_grace_seconds,
    )
