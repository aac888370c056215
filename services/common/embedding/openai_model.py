"""A hosted embedding model: what is known of it, where it is, and how much it takes at once."""

from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from services.common.embedding.counters import HostedTokenizer
from services.common.settings import Secret

OPENAI_URL = "https://api.openai.com/v1"
"""Address of OpenAI's own endpoint."""
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""Length of the vectors of OpenAI's models."""

USD_PER_MILLION_TOKENS = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
}
"""List prices of OpenAI's models, as they were announced in January 2024 (openai.com/api/pricing)."""


class Encoding(StrEnum):
    """How an endpoint is asked to write vectors."""

    FLOAT = "float"
    """Numbers; every endpoint knows it."""
    BASE64 = "base64"
    """Bytes of float32: a quarter of the traffic where the endpoint knows it."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may hold, whichever of the two is reached first."""

    inputs: int = 2_048
    """Texts."""
    tokens: int = 300_000
    """Tokens of all texts together."""


@dataclass(frozen=True, slots=True)
class HostedModel:
    """An embedding model behind an OpenAI-compatible endpoint."""

    name: str
    """As the endpoint knows it."""
    tokenizer: HostedTokenizer
    limits: RequestLimits = field(default_factory=RequestLimits)
    encoding: Encoding = Encoding.FLOAT
    asked_dimensions: int | None = None
    """Length of vectors that the endpoint is asked for; None leaves it to the model, since some refuse the question."""

    @property
    def dimensions(self) -> int | None:
        """Length of the vectors; None where only the endpoint can tell."""
        return self.asked_dimensions or _DIMENSIONS.get(self.name)

    @property
    def space_name(self) -> str:
        """Name of its embedding space: shortened vectors of a model do not go with its whole ones."""
        if self.asked_dimensions in (None, _DIMENSIONS.get(self.name)):
            return self.name
        return f"{self.name}@{self.asked_dimensions}"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Longest silences, in seconds; how long a call may take in all is `Patience`."""

    connect: float = 5.0
    read: float = 30.0
    write: float = 30.0
    pool: float = 5.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is and who asks it."""

    base_url: str
    """Everything before `/embeddings`. Example: `https://api.openai.com/v1`."""
    api_key: Secret | None = None
    """Sent as bearer token; without it no `Authorization` is sent."""
    connections: int = 4
    """Most requests for documents at a time, and as many for questions."""
    timeouts: Timeouts = field(default_factory=Timeouts)

    @property
    def host(self) -> str:
        """Host of the address, for logs: a path may hold more than a log should."""
        return urlsplit(self.base_url).hostname or ""
