"""How exactly an embedding model computes, and what that depends on."""

from enum import StrEnum
from pathlib import Path


class Precision(StrEnum):
    """Arithmetic of the products with the model's weights; both make vectors of one embedding space."""

    EXACT = "exact"
    """In float32."""
    INT8 = "int8"
    """In integers: half the time for a question, other vectors by a cosine of about 0.997."""


class Choice(StrEnum):
    """What may be asked for."""

    AUTO = "auto"
    """INT8 where the processor is of a kind that it was measured on, else EXACT."""
    EXACT = "exact"
    INT8 = "int8"


_VNNI = frozenset({"avx_vnni", "avx512_vnni"})
_MEASURED = frozenset({"avx2", *_VNNI})
"""Processor flags with which the integer products are known to be both right and faster."""


def sums_saturate(flags: frozenset[str]) -> bool:
    """Tell whether the fastest integer product of a processor may saturate, so that a slower one has to be asked for.

    Those with VNNI sum in 32 bits; others of x86 add two products in 16 bits first.
    """
    return not flags & _VNNI


def precision_for(choice: Choice, flags: frozenset[str]) -> Precision:
    """Return what a choice means on a processor with these flags."""
    if choice is Choice.AUTO:
        return Precision.INT8 if flags & _MEASURED else Precision.EXACT
    return Precision(choice)


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Return the flags of the first processor; none where the system does not tell."""
    try:
        lines = cpuinfo.read_text(errors="replace").splitlines()
    except OSError:
        return frozenset()
    return next((frozenset(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), frozenset())
