"""The generated modules, ours and those of the packages, load beside the one protobuf that is installed."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parents[2]
_GENERATED = _REPOSITORY / "protos" / "gen"
_COUPLED = ("protobuf", "grpcio", "grpcio-health-checking", "grpcio-reflection", "googleapis-common-protos")
_FOREIGN = (
    "grpc_health.v1.health_pb2",
    "grpc_health.v1.health_pb2_grpc",
    "grpc_health.v1.health",
    "grpc_reflection.v1alpha.reflection_pb2",
    "grpc_reflection.v1alpha.reflection_pb2_grpc",
    "grpc_reflection.v1alpha.reflection",
    "google.api.annotations_pb2",
    "google.api.httpbody_pb2",
    "google.rpc.error_details_pb2",
    "google.rpc.status_pb2",
)


def _ours() -> list[str]:
    files = sorted(_GENERATED.rglob("*_pb2*.py"))
    return [".".join(file.relative_to(_GENERATED).with_suffix("").parts) for file in files]


def test_every_generated_module_loads_beside_the_others() -> None:
    """F52: protobuf refuses code that a newer compiler made, and warns of code that is a version behind."""
    modules = [*_ours(), *_FOREIGN]
    assert len(modules) > len(_FOREIGN) + 5
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "".join(f"import {module}\n" for module in modules)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lock", ["local.lock", "dev.lock"])
@pytest.mark.parametrize("package", _COUPLED)
def test_what_is_installed_is_what_is_locked(package: str, lock: str) -> None:
    """F52: one protobuf for all of them, chosen once."""
    locked = re.findall(rf"(?m)^{package}==(\S+)", (_REPOSITORY / "requirements" / lock).read_text(encoding="utf-8"))

    assert locked == [importlib.metadata.version(package)]
