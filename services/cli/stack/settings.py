"""Where the local stack lives and which ports it takes; a command reads no more of it than it needs."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from services.cli.stack.addresses import host_in_url, host_name, ip_address, reached_at
from services.cli.stack.rotation import LogLimits

_MISREAD = re.compile(r"[\"$`\\\x00-\x1f\x7f]")
_PORT = {"least": 1, "most": 65535}


def default_home() -> Path:
    """Return the folder of the local stack where none is named: the system's for root, the user's otherwise."""
    if os.geteuid() == 0:
        return Path("/var/lib/attest")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "attest"


def home_folder(raw: str) -> Path:
    """Read the path of a home; raise ValueError on signs that the programs of Postgres hand to a shell or misread."""
    if _MISREAD.search(raw):
        raise ValueError('holds one of " $ ` \\ or a control character, which Postgres cannot take in a path')
    return Path(raw)


@dataclass(frozen=True, kw_only=True)
class HomeSettings:
    """Where the stack lives: enough to stop it, to look at it and to read its logs."""

    home: Path = field(default_factory=default_home, metadata={"read": home_folder})
    """Folder of the data, the secrets, the logs."""
    pg_user: str = "nobody"
    """Account that runs Postgres when root starts the stack."""

    def __post_init__(self) -> None:
        """Make the home absolute, so that a detached process means the same folder."""
        object.__setattr__(self, "home", Path(self.home).expanduser().absolute())

    @property
    def logs(self) -> Path:
        """Return the folder of the logs, one file a part."""
        return self.home / "logs"


@dataclass(frozen=True, kw_only=True)
class DoorSettings:
    """Where the gateway is: enough to call it."""

    bind: str = field(default="127.0.0.1", metadata={"read": ip_address})
    """Address that the gateway listens on; `::` is every address of both kinds. Everything else stays on 127.0.0.1."""
    http_port: int = field(default=8080, metadata=_PORT)
    """Port of the gateway."""

    @property
    def gateway_url(self) -> str:
        """Return the address of the gateway as seen from this machine."""
        return f"http://{host_in_url(reached_at(self.bind))}:{self.http_port}"


@dataclass(frozen=True, kw_only=True)
class DataSettings(HomeSettings):
    """Where the stack and its database are: enough to read the data."""

    pg_port: int = field(default=54329, metadata=_PORT)
    """Port of Postgres."""


@dataclass(frozen=True, kw_only=True)
class StackSettings(DoorSettings, DataSettings):
    """The local stack as the environment describes it: all that it takes to start it."""

    admin_port: int = field(default=8081, metadata=_PORT)
    """Port of Envoy's admin interface."""
    ingest_port: int = field(default=50051, metadata=_PORT)
    """Port of the ingest service."""
    retrieval_port: int = field(default=50052, metadata=_PORT)
    """Port of the retrieval service."""
    answer_port: int = field(default=50053, metadata=_PORT)
    """Port of the answer service."""
    auth_port: int = field(default=50054, metadata=_PORT)
    """Port kept for the auth service."""
    rate_limit_per_minute: int = field(default=10, metadata={"least": 1, "most": 1_000_000})
    """Questions a minute and client address."""
    allowed_hosts: tuple[str, ...] = field(default=(), metadata={"read": host_name})
    """Host names that the gateway answers to beside localhost, comma-separated. Example: `attest.example.com`."""
    guard: str = field(default="log", metadata={"choices": ("off", "log", "block")})
    """What the guard does with a question that matches a rule."""
    log_max_bytes: int = field(default=10 * 1024 * 1024, metadata={"least": 4096, "most": 1024**3})
    """Size at which a log file is set aside, in bytes."""
    log_generations: int = field(default=3, metadata={"least": 1, "most": 100})
    """Files kept of each log, the one being written included."""
    disk_reserve_mb: int = field(default=128, metadata={"least": 0, "most": 1_000_000})
    """Free space in MiB below which no more documents are taken, so that those that are there can be served."""

    @property
    def log_limits(self) -> LogLimits:
        """Return the bounds of each log."""
        return LogLimits(self.log_max_bytes, self.log_generations)

    def taken_ports(self) -> dict[str, tuple[str, int]]:
        """Return host and port of each variable that names a port the stack listens on."""
        local = {
            "ATTEST_ADMIN_PORT": self.admin_port,
            "ATTEST_INGEST_PORT": self.ingest_port,
            "ATTEST_RETRIEVAL_PORT": self.retrieval_port,
            "ATTEST_ANSWER_PORT": self.answer_port,
            "ATTEST_PG_PORT": self.pg_port,
        }
        ports = {variable: ("127.0.0.1", port) for variable, port in local.items()}
        return {"ATTEST_HTTP_PORT": (self.bind, self.http_port), **ports}
