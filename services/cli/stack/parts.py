"""Which processes make up the local stack, and what each is told."""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.cli.stack.cluster import STOP_SIGNAL, Cluster
from services.cli.stack.gateway import LOOPBACK_HOSTS, GatewaySettings, command, render
from services.cli.stack.part import PartSpec
from services.cli.stack.secrets import Secrets
from services.cli.stack.settings import StackSettings
from services.common.identity import Scope
from services.common.postgres.settings import Role

_PASSED_ON = ("PATH", "HOME", "LANG", "TZ", "LD_LIBRARY_PATH", "SSL_CERT_FILE")
_PASSED_ON_PREFIXES = ("ATTEST_", "GRPC_", "OPENBLAS_", "OMP_", "PYTHON")
_KEPT_FOR = {"ATTEST_EMBEDDING_API_KEY": {"ingest", "retrieval"}}
"""Secrets of the shell that only these parts are told."""


def postgres(cluster: Cluster) -> PartSpec:
    """Describe Postgres; `cluster.prepare()` comes first."""
    server = cluster.command()
    account: dict[str, Any] = (
        {} if server.user is None else {"user": server.user, "group": server.group, "extra_groups": []}
    )
    return PartSpec(
        name="postgres",
        port=cluster.port,
        argv=server.argv,
        env=server.env,
        cwd=server.cwd,
        stop_signal=signal.Signals(STOP_SIGNAL),
        account=account,
    )


def services(settings: StackSettings, secrets: Secrets, cluster: Cluster) -> list[PartSpec]:
    """Describe the three services; each is told only the secrets that it needs."""
    writer, reader = cluster.role(Role.WRITER).dsn, cluster.role(Role.READER).dsn
    return [
        _service("ingest", settings, settings.ingest_port, {"WRITER_DSN": writer, "CONTENT_KEY": secrets.content_key}),
        _service("retrieval", settings, settings.retrieval_port, {"READER_DSN": reader}),
        _service(
            "answer",
            settings,
            settings.answer_port,
            {
                "RETRIEVAL_TARGET": f"dns:///127.0.0.1:{settings.retrieval_port}",
                "QUESTION_SALT": secrets.question_salt,
                "GUARD": settings.guard,
            },
        ),
    ]


def gateway(settings: StackSettings) -> PartSpec:
    """Render Envoy's configuration into the home and describe Envoy."""
    folder = settings.home / "run" / "gateway"
    config = render(
        GatewaySettings(
            bind=settings.bind,
            http_port=settings.http_port,
            admin_port=settings.admin_port,
            answer_port=settings.answer_port,
            retrieval_port=settings.retrieval_port,
            ingest_port=settings.ingest_port,
            rate_limit_per_minute=settings.rate_limit_per_minute,
            allowed_hosts=tuple(name for name in dict.fromkeys(settings.allowed_hosts) if name not in LOOPBACK_HOSTS),
            access_log=settings.logs / "access.log",
        ),
        folder,
    )
    return PartSpec(
        name="gateway",
        port=settings.http_port,
        argv=command(config),
        env=_environment("gateway", {}),
        cwd=folder,
        stop_seconds=10,
    )


def _service(name: str, settings: StackSettings, port: int, own: Mapping[str, str]) -> PartSpec:
    scopes = ",".join(sorted(Scope))
    defaults = {"ANONYMOUS_SCOPES": os.environ.get("ATTEST_ANONYMOUS_SCOPES", scopes), f"{name.upper()}_PORT": port}
    return PartSpec(
        name=name,
        port=port,
        argv=[str(Path(sys.executable).parent / f"attest-{name}")],
        env=_environment(name, {f"ATTEST_{key}": str(value) for key, value in {**defaults, **own}.items()}),
        cwd=settings.home,
    )


def _environment(part: str, own: Mapping[str, str]) -> dict[str, str]:
    """Keep what a part needs of ours; a proxy or a foreign PYTHONPATH of the shell is not its business."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if (key in _PASSED_ON or (key.startswith(_PASSED_ON_PREFIXES) and key != "PYTHONPATH"))
        and part in _KEPT_FOR.get(key, {part})
    }
    return {"GRPC_VERBOSITY": "ERROR", **kept, "PYTHONUNBUFFERED": "1", **own}
