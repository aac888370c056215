"""Who calls: the tenant whose rows may be seen, and the scopes that say what may be done."""

from dataclasses import dataclass
from enum import StrEnum

DEFAULT_TENANT = "default"


class Scope(StrEnum):
    """What a caller may do."""

    ASK = "ask"
    """Ask, search, read passages."""
    INGEST = "ingest"
    """Ingest and delete documents."""
    ADMIN = "admin"
    """Change embedding spaces, read records."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller."""

    tenant: str
    scopes: frozenset[Scope]
