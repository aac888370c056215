"""The figures that must not fall, and by how much each may vary."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evals.figures import Figures

FILE = Path("evals/gates.toml")
LOWER_IS_BETTER = ("false_", "words", "failed")
"""Beginnings of the names of figures that must not rise."""
_ROUNDING = 1e-9


class GateError(Exception):
    """The file of gates is not one; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What a figure was, and by how much it may get worse."""

    where: str
    """Set and scope. Example: `xquad_en/alone`."""
    figure: str
    value: float
    vary: float

    @property
    def least_or_most(self) -> float:
        """Return the bound: the least value, or the most where lower is better."""
        return self.value + self.vary if self.figure.startswith(LOWER_IS_BETTER) else self.value - self.vary

    def holds(self, measured: float) -> bool:
        """Tell whether the figure has not got worse by more than it may."""
        if self.figure.startswith(LOWER_IS_BETTER):
            return measured <= self.least_or_most + _ROUNDING
        return measured >= self.least_or_most - _ROUNDING


def load(path: Path) -> list[Gate]:
    """Read the gates; raise GateError."""
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
        gates = [
            Gate(where, figure, float(told["value"]), float(told["vary"]))
            for where, figures in tables.items()
            for figure, told in figures.items()
        ]
        if not gates:
            raise ValueError("it holds none")
        return gates
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise GateError(f"{path} is not a file of gates ({type(error).__name__}: {error}).") from error


def broken(figures: Mapping[str, Figures], gates: list[Gate]) -> list[str]:
    """Return one line for each gate that does not hold; a figure that was not measured holds for nothing."""
    lines = []
    for gate in gates:
        estimate = figures.get(gate.where, {}).get(gate.figure)
        if estimate is None:
            lines.append(f"{gate.where} {gate.figure} was not measured")
        elif not gate.holds(estimate.value):
            bound = "at most" if gate.figure.startswith(LOWER_IS_BETTER) else "at least"
            lines.append(
                f"{gate.where} {gate.figure} is {estimate.value:.3f} and must be {bound} {gate.least_or_most:.3f}"
            )
    return lines


def proposed(figures: Mapping[str, Figures], gates: list[Gate]) -> str:
    """Return the text of a file with the same gates at the values that were measured."""
    lines: list[str] = []
    for where in dict.fromkeys(gate.where for gate in gates):
        lines += ["", f'["{where}"]']
        for gate in (gate for gate in gates if gate.where == where):
            estimate = figures.get(where, {}).get(gate.figure)
            value = gate.value if estimate is None else estimate.value
            lines.append(f"{gate.figure} = {{ value = {value:.3f}, vary = {gate.vary:g} }}")
    return "\n".join(lines[1:])
