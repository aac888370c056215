"""The section of the page on thresholds."""

from evals.curves import FOUND_KEPT, GOLD_KEPT
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
            f"{library.gate_start:.2f}",
            "-" if library.best_cut is None else f"{library.best_cut:.2f}",
            *(f"{library.passing[kind]:.3f}" if kind in library.passing else "-" for kind in kinds),
        ]
        for library in sorted(found.libraries, key=lambda library: library.chunks)
    ]
    return [
        "## Thresholds",
        "",
        f"Chunk filter **{found.chunk_filter:.2f}**, gate start **{found.gate_start:.2f}** for the space of"
        f" `{found.model}`, from means over the sets in `{found.language}`: the gate's from all sets searched together,"
        " the filter the lower one of alone and together, since what it drops nobody sees again."
        " `python -m evals threshold --space` sets them in the space of a running stack, `--save` in what new spaces"
        " begin with.",
        "",
        *(f"![{name}]({name})\n" for name in found.charts),
        f"The chunk filter is the highest threshold that keeps {GOLD_KEPT:.0%} of the gold passages found among ten,"
        f" the gate's start the highest that lets {FOUND_KEPT:.0%} of the questions through whose gold document was"
        " found. *Cut* parts answerable questions from `off` ones best (Youden's J), where losing one weighs as much as"
        " letting one through. Libraries by size, each with its own values, and the share of each kind that would pass"
        " its gate:",
        "",
        *table(["library", "chunks", "filter", "gate", "cut", *kinds], rows),
        "",
    ]
