"""The rule guard: explainable patterns of attempts to turn the service against its own rules."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from services.answer.guard_rules import RULES
from services.answer.record import GuardVerdict

_IGNORABLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


class GuardMode(StrEnum):
    """What the guard does with a question that a rule matches."""

    OFF = "off"
    LOG = "log"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Screening:
    """What the guard made of a question, and the ids of the rules that matched."""

    verdict: GuardVerdict
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """Screens questions by the rules; English only, and no promise against a determined attacker."""

    mode: GuardMode = GuardMode.LOG

    def screen(self, question: str) -> Screening:
        """Return the verdict; time grows linearly with the question."""
        if self.mode is GuardMode.OFF:
            return Screening(GuardVerdict.NOT_SCREENED)
        text = plain(question)
        rules = tuple(rule.id for rule in RULES if rule.pattern.search(text))
        if not rules:
            return Screening(GuardVerdict.CLEAN)
        return Screening(GuardVerdict.REFUSED if self.mode is GuardMode.BLOCK else GuardVerdict.FLAGGED, rules)


def plain(text: str) -> str:
    """Return the form that rules are matched on: NFKC, lower case, single spaces, no invisible characters."""
    return " ".join(_IGNORABLE.sub("", unicodedata.normalize("NFKC", text)).casefold().split())
