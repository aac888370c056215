"""The section of the page on thresholds."""

from evals.markdown import table
from evals.threshold import Thresholds


def section(found: Thresholds | None) -> list[str]:
    """Return what thresholds the scores give, by size of the library; nothing where there are none."""
    if found is None:
        return []
    kinds = dict.fromkeys(kind for library in found.libraries for kind in library.passing)
    rows = [
        [
            library.name,
            str(library.chunks),
            f"{library.chunk_filter:.2f}",
            "-" if library.gate_start is None else f"{library.gate_start:.2f}",
            *(f"{library.passing[kind]:.3f}" if kind in library.passing else "-" for kind in kinds),
        ]
        for library in sorted(found.libraries, key=lambda library: library.chunks)
    ]
    start = "none" if found.gate_start is None else f"{found.gate_start:.2f}"
    return [
        "## Thresholds",
        "",
        f"Chunk filter **{found.chunk_filter:.2f}**, gate start **{start}** for the space of `{found.model}`: mean over"
        f" the sets in `{found.language}`, searched together where they were. This command sets neither;"
        " `python -m evals threshold` prints them.",
        "",
        *(f"![{name}]({name})\n" for name in found.charts),
        "The chunk filter is the highest threshold that keeps 99 % of the gold passages found among ten. The gate's"
        " start parts answerable questions from `off` ones best (Youden's J). Libraries by size, each with its own best"
        " values, and the share of each kind that would pass that gate:",
        "",
        *table(["library", "chunks", "filter", "gate", *kinds], rows),
        "",
    ]
