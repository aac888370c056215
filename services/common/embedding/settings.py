"""Settings of the services that embed, and the embedder made of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from services.common.embedding.counters import CL100K, HostedTokenizer, TokenizerSource
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.embedding.openai_embedder import OpenAiEmbedder
from services.common.embedding.openai_model import (
    OPENAI_URL,
    USD_PER_MILLION_TOKENS,
    Encoding,
    Endpoint,
    HostedModel,
    RequestLimits,
)
from services.common.embedding.patience import Patience
from services.common.embedding.port import TextEmbedder
from services.common.embedding.precision import Choice, precision_for, processor_flags
from services.common.service import ServiceSettings
from services.common.settings import Secret, SettingsError

PACKAGED = "all-MiniLM-L6-v2"
"""Name of the model that runs in the process."""
_LONGEST_NAME = 190
"""Characters; an embedding space bears the name, with the length of its vectors at most, in 200."""


def endpoint_url(raw: str) -> str:
    """Read an address with `http` or `https` and no more than host, port and path; raise ValueError."""
    try:
        parts = urlsplit(raw)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # its words quote the address
        is_usable = False
    if not is_usable:
        raise ValueError("is not a URL such as https://api.openai.com/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("has more than a host, a port and a path; the key belongs into ATTEST_EMBEDDING_API_KEY")
    return raw.rstrip("/")


def api_key(raw: str) -> Secret:
    """Read a key, without the end of line that one from a file has; raise ValueError."""
    key = raw.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("holds signs that no key has")
    return Secret(key)


def model_name(raw: str) -> str:
    """Read the name of a model; raise ValueError."""
    if len(raw) > _LONGEST_NAME or not raw.isprintable():
        raise ValueError(f"is longer than {_LONGEST_NAME} characters or not in one line")
    return raw.strip()


@dataclass(frozen=True, kw_only=True)
class EmbeddingSettings(ServiceSettings):
    """What ingest and retrieval read from the environment beside their own; both must be told the same."""

    embedding_model: str = field(default=PACKAGED, metadata={"read": model_name})
    """Model that embeds documents and questions. `all-MiniLM-L6-v2` runs in the service; any other is asked of an
    OpenAI-compatible endpoint by that name, so texts and questions leave the machine. A library keeps to the model it
    began with. Example: `text-embedding-3-small`."""
    embedding_precision: Choice = Choice.AUTO
    """Arithmetic of `all-MiniLM-L6-v2`: `int8` takes 0.6 to 0.8 of the time of `exact` for about half a point less
    of recall at 5 by vectors alone; `auto` is `int8` on processors with AVX2 or VNNI. It may be changed at any time:
    the vectors of both go together."""
    embedding_base_url: str = field(default=OPENAI_URL, metadata={"read": endpoint_url})
    """Address of the endpoint, up to `/embeddings`."""
    embedding_api_key: Secret | None = field(default=None, metadata={"read": api_key})
    """Key of the endpoint; OpenAI's own needs one."""
    embedding_dimensions: int | None = field(default=None, metadata={"least": 1, "most": 4000})
    """Length of vectors to ask the endpoint for; the model's own without it, and some endpoints refuse the question.
    Another length is another library."""
    embedding_encoding: Encoding = Encoding.FLOAT
    """Form of vectors to ask the endpoint for; `base64` is a quarter of the traffic where it is known."""
    embedding_tokenizer: str = CL100K
    """How texts for the endpoint are counted: `cl100k_base`, which OpenAI's models use, or a path to the model's
    `tokenizer.json`."""
    embedding_max_tokens: int = field(default=8192, metadata={"least": 32, "most": 1_000_000})
    """Most tokens of one text that the endpoint takes."""
    embedding_max_inputs: int = field(default=2048, metadata={"least": 1, "most": 2048})
    """Most texts of one request to the endpoint."""
    embedding_max_request_tokens: int = field(default=300_000, metadata={"least": 32, "most": 10_000_000})
    """Most tokens of one request to the endpoint."""
    embedding_connections: int = field(default=4, metadata={"least": 1, "most": 100})
    """Most requests to the endpoint at a time, for documents and for questions each."""
    embedding_attempts: int = field(default=4, metadata={"least": 1, "most": 10})
    """Tries of one request to the endpoint, the first included; only what may pass is tried again."""
    embedding_seconds: float = field(default=60.0, metadata={"least": 1.0, "most": 120.0})
    """Seconds for one request with passages, all tries included; the caller's deadline ends it before."""
    embedding_usd_per_million_tokens: float | None = field(default=None, metadata={"least": 0.0, "most": 1000.0})
    """Price of a million tokens at the endpoint, for the cost that an ingest tells; OpenAI's list price without it,
    where the model is one of theirs, else 0."""
    embedding_question_seconds: float = field(default=8.0, metadata={"least": 0.5, "most": 60.0})
    """The same for a question."""


def usd_per_million_tokens(settings: EmbeddingSettings) -> float:
    """Return what a million embedded tokens cost; 0 for the packaged model, and for one whose price nobody named."""
    if settings.embedding_model == PACKAGED:
        return 0.0
    if settings.embedding_usd_per_million_tokens is not None:
        return settings.embedding_usd_per_million_tokens
    return (
        USD_PER_MILLION_TOKENS.get(settings.embedding_model, 0.0) if settings.embedding_base_url == OPENAI_URL else 0.0
    )


def tokenizer_source(settings: EmbeddingSettings) -> TokenizerSource:
    """Return what the tokens of chunks are counted by."""
    return packaged_minilm() if settings.embedding_model == PACKAGED else _tokenizer(settings)


def chosen_embedder(settings: EmbeddingSettings, threads: int, time_remaining: Callable[[], float]) -> TextEmbedder:
    """Return the embedder of the chosen model; `threads` are those of the packaged one.

    Raises SettingsError when OpenAI's own endpoint is chosen without a key.
    """
    if settings.embedding_model == PACKAGED:
        return packaged_embedder(settings, threads)
    if settings.embedding_base_url == OPENAI_URL and settings.embedding_api_key is None:
        raise SettingsError(
            "ATTEST_EMBEDDING_API_KEY is missing, and the model of ATTEST_EMBEDDING_MODEL is asked of OpenAI; "
            "set it, or ATTEST_EMBEDDING_BASE_URL to an endpoint of your own"
        )
    patience = Patience(
        attempts=settings.embedding_attempts,
        seconds=settings.embedding_seconds,
        question_seconds=settings.embedding_question_seconds,
    )
    return OpenAiEmbedder(_hosted_model(settings), _endpoint(settings), patience, time_remaining)


def packaged_embedder(settings: EmbeddingSettings, threads: int) -> OnnxEmbedder:
    """Return the embedder of the packaged model in the precision that the settings and the processor give."""
    precision = precision_for(settings.embedding_precision, processor_flags())
    return OnnxEmbedder(packaged_minilm(), precision=precision, threads=threads)


def _hosted_model(settings: EmbeddingSettings) -> HostedModel:
    return HostedModel(
        name=settings.embedding_model,
        tokenizer=_tokenizer(settings),
        limits=RequestLimits(settings.embedding_max_inputs, settings.embedding_max_request_tokens),
        encoding=settings.embedding_encoding,
        asked_dimensions=settings.embedding_dimensions,
    )


def _tokenizer(settings: EmbeddingSettings) -> HostedTokenizer:
    return HostedTokenizer(settings.embedding_tokenizer, settings.embedding_max_tokens)


def _endpoint(settings: EmbeddingSettings) -> Endpoint:
    return Endpoint(settings.embedding_base_url, settings.embedding_api_key, settings.embedding_connections)
