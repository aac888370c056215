"""The tables of figures in the page."""

from collections.abc import Mapping, Sequence

from evals.bootstrap import Estimate
from evals.figures import Figures
from evals.markdown import table
from evals.outcome import Scope

_RETRIEVAL = {
    "recall_at_1": "recall@1",
    "recall_at_5": "@5",
    "recall_at_10": "@10",
    "ndcg_at_10": "nDCG@10",
    "mrr": "MRR",
}
_ANSWERS = {
    "answered": "answered",
    "gold_contained": "gold contained",
    "gold_contained_of_answered": "of answered",
    "overlap_f1": "token F1",
    "overlap_f1_of_answered": "of answered",
    "words": "words",
    "citations_valid": "citations valid",
}
_FALSE = {
    "false_unanswerable": "labelled",
    "false_off": "off",
    "false_near": "near",
    "false_near_with_gold": "of these with gold",
    "false_swap": "swap",
}

Libraries = Mapping[str, Figures]


def sections(libraries: Libraries, proxy: Mapping[str, float]) -> list[str]:
    """Return retrieval, answers and false answers, each set alone and the sets of a language together."""
    return [
        *_section(libraries, "Retrieval", _RETRIEVAL),
        *_unfiltered(libraries),
        *_section(libraries, "Answers", _ANSWERS),
        *_proxy(proxy),
        *_section(libraries, "False answers", _FALSE),
    ]


def _section(libraries: Libraries, title: str, columns: Mapping[str, str]) -> list[str]:
    return [f"## {title}", "", *_tables(libraries, columns)]


def _tables(libraries: Libraries, columns: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for scope, heading in (
        (Scope.ALONE, "Each set alone"),
        (Scope.TOGETHER, "All measured corpora of a language together"),
    ):
        places = [where for where in libraries if where.endswith(f"/{scope}")]
        shown = [name for name in columns if any(name in libraries[where] for where in places)]
        if places and shown:
            head = ["library", *(columns[name] for name in shown)]
            lines += [f"**{heading}**", "", *table(head, [_row(libraries, where, shown) for where in places]), ""]
    return lines


def _row(libraries: Libraries, where: str, columns: Sequence[str]) -> list[str]:
    return [where.rpartition("/")[0], *(_cell(libraries[where].get(name), name) for name in columns)]


def _cell(estimate: Estimate | None, name: str) -> str:
    if estimate is None:
        return "-"
    digits = 0 if name == "words" else 3
    of = f" of {estimate.n}" if name.startswith("false_") else ""
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]{of}"


def _unfiltered(libraries: Libraries) -> list[str]:
    """Return the sets in which the chunk filter changes what is found."""
    rows = [
        [where, *(f"{found[name].value:.3f} / {found[f'{name}_unfiltered'].value:.3f}" for name in _RETRIEVAL)]
        for where, found in libraries.items()
        if any(name in found and found[name].value != found[f"{name}_unfiltered"].value for name in _RETRIEVAL)
    ]
    if not rows:
        return ["With the chunk filter off every figure is the same.", ""]
    return [
        "**Chunk filter on / off**, where it changes anything",
        "",
        *table(["library", *_RETRIEVAL.values()], rows),
        "",
    ]


def _proxy(proxy: Mapping[str, float]) -> list[str]:
    if not proxy:
        return []
    rows = [[name, f"{share:.3f}"] for name, share in proxy.items()]
    return [
        "**What token F1 is worth**: the chance that an answer overlaps more with its own gold answer than with that of"
        " another question of the set (0.5 is a coin)",
        "",
        *table(["set", "chance"], rows),
        "",
    ]
