"""Where figures come from: the code, the machine, the model's files."""

import os
import platform
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from services.common.embedding.files import packaged_minilm
from services.common.embedding.precision import Choice, precision_for, processor_flags

ROOT = Path(__file__).resolve().parents[1]
_CPU_INFO = Path("/proc/cpuinfo")
_VECTOR_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni")


def commit() -> str:
    """Return the commit of the product, with a plus behind it where the product differs from it."""
    changed = _git("status", "--porcelain", "--", "services", "protos", "migrations", "gateway")
    return _git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def model_files() -> Mapping[str, str]:
    """Return the SHA-256 of each file of the packaged embedding model, by name."""
    files = packaged_minilm()
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in (files.onnx, files.tokenizer)}


def precision(settings: Mapping[str, str]) -> str:
    """Return the arithmetic that the model runs in on this machine, under these settings of the stack."""
    return precision_for(Choice(settings.get("EMBEDDING_PRECISION", "auto")), processor_flags()).value


def machine() -> Mapping[str, str]:
    """Return what of the machine moves figures or durations."""
    return {
        "processor": _processor(),
        "instructions": ", ".join(flag for flag in _VECTOR_FLAGS if flag in _cpu_line("flags").split()),
        "cores": f"{len(os.sched_getaffinity(0))} cores",
        "load": f"load {os.getloadavg()[1]:.1f} at the end",
        "python": f"Python {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    return _cpu_line("model name") or platform.machine()


def _cpu_line(field: str) -> str:
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8").split("\n")
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)  # noqa: S607  # found by PATH on purpose
    return done.stdout.strip() if done.returncode == 0 else "unknown"
