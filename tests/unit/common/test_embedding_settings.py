"""Which model the settings choose, and what they refuse."""

import pytest

from services.common.embedding.counters import HostedTokenizer
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import ModelFiles
from services.common.embedding.openai_embedder import OpenAiEmbedder
from services.common.embedding.settings import (
    EmbeddingSettings,
    chosen_embedder,
    tokenizer_source,
    usd_per_million_tokens,
)
from services.common.embedding.space import check_active_space
from services.common.errors import FailedPreconditionError, Reason, UnavailableError
from services.common.settings import SettingsError, from_environment, masked
from services.retrieval.model import EmbeddingSpace

KEY = "sk-secret"


def read(**variables: str) -> EmbeddingSettings:
    return from_environment(EmbeddingSettings, {f"ATTEST_EMBEDDING_{name}": value for name, value in variables.items()})


def test_the_model_in_the_service_is_the_default() -> None:
    assert isinstance(chosen_embedder(read(), 1, lambda: 1.0), OnnxEmbedder)
    assert isinstance(tokenizer_source(read()), ModelFiles)


def test_another_name_is_asked_of_an_endpoint_and_counted_by_its_tokenizer() -> None:
    settings = read(MODEL="text-embedding-3-small", API_KEY=KEY, MAX_TOKENS="512")
    embedder = chosen_embedder(settings, 1, lambda: 1.0)

    assert isinstance(embedder, OpenAiEmbedder)
    assert (embedder.model_name, embedder.max_tokens) == ("text-embedding-3-small", 512)
    assert tokenizer_source(settings) == HostedTokenizer("cl100k_base", 512)


def test_openai_itself_needs_a_key_and_an_endpoint_of_your_own_does_not() -> None:
    with pytest.raises(SettingsError, match="ATTEST_EMBEDDING_API_KEY is missing"):
        chosen_embedder(read(MODEL="text-embedding-3-small"), 1, lambda: 1.0)

    chosen_embedder(read(MODEL="nomic", BASE_URL="http://127.0.0.1:11434/v1/"), 1, lambda: 1.0)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"BASE_URL": "api.openai.com"}, "ATTEST_EMBEDDING_BASE_URL is not a URL"),
        ({"BASE_URL": "file:///etc/passwd"}, "ATTEST_EMBEDDING_BASE_URL is not a URL"),
        ({"BASE_URL": f"https://user:{KEY}@host/v1"}, "ATTEST_EMBEDDING_BASE_URL has more than a host"),
        ({"BASE_URL": f"https://host/v1?key={KEY}"}, "ATTEST_EMBEDDING_BASE_URL has more than a host"),
        ({"BASE_URL": "http://[::1/v1"}, "ATTEST_EMBEDDING_BASE_URL is not a URL"),
        ({"BASE_URL": "http://host:port/v1"}, "ATTEST_EMBEDDING_BASE_URL is not a URL"),
        ({"BASE_URL": f"http://{KEY}\u2100/v1"}, "ATTEST_EMBEDDING_BASE_URL is not a URL"),
        ({"API_KEY": f"{KEY} {KEY}"}, "ATTEST_EMBEDDING_API_KEY holds signs"),
        ({"API_KEY": f"{KEY}\u201d"}, "ATTEST_EMBEDDING_API_KEY holds signs"),
        ({"MODEL": "a\nb"}, "ATTEST_EMBEDDING_MODEL is longer"),
        ({"DIMENSIONS": "5000"}, "ATTEST_EMBEDDING_DIMENSIONS is outside"),
        ({"MAX_INPUTS": "0"}, "ATTEST_EMBEDDING_MAX_INPUTS is outside"),
        ({"ENCODING": "int8"}, "ATTEST_EMBEDDING_ENCODING is not one of"),
    ],
)
def test_wrong_values_are_named_and_not_repeated(variables: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said) as raised:
        read(**variables)
    assert KEY not in str(raised.value)


def test_the_end_of_the_line_is_no_part_of_a_key() -> None:
    key = read(API_KEY=f"{KEY}\n").embedding_api_key

    assert key is not None
    assert key.reveal() == KEY


def test_the_key_is_printed_nowhere() -> None:
    settings = read(MODEL="m", API_KEY=KEY)

    assert KEY not in f"{settings} {settings!r} {masked(settings)} {chosen_embedder(settings, 1, lambda: 1.0)!r}"


async def _space() -> EmbeddingSpace:
    return EmbeddingSpace(1, "all-MiniLM-L6-v2", 384, 0.25, 0.42)


@pytest.mark.parametrize(("model", "dimensions"), [("text-embedding-3-small", 384), ("all-MiniLM-L6-v2", 1536)])
async def test_a_library_of_other_vectors_is_refused(model: str, dimensions: int) -> None:
    """F11, F9: the same length does not make two models one, nor the same name two lengths."""
    with pytest.raises(FailedPreconditionError, match="embedded by all-MiniLM-L6-v2") as raised:
        await check_active_space(_space, model, dimensions)
    assert raised.value.reason is Reason.SPACE_MISMATCH


async def test_its_own_library_is_taken_and_none_yet_is_no_refusal() -> None:
    async def nothing() -> EmbeddingSpace:
        raise UnavailableError(Reason.DATABASE_UNAVAILABLE, "not there")

    await check_active_space(_space, "all-MiniLM-L6-v2", 384)
    await check_active_space(nothing, "all-MiniLM-L6-v2", 384)


@pytest.mark.parametrize(
    ("variables", "price"),
    [
        ({}, 0.0),
        ({"ATTEST_EMBEDDING_USD_PER_MILLION_TOKENS": "5"}, 0.0),
        ({"ATTEST_EMBEDDING_MODEL": "text-embedding-3-small"}, 0.02),
        ({"ATTEST_EMBEDDING_MODEL": "text-embedding-3-small", "ATTEST_EMBEDDING_USD_PER_MILLION_TOKENS": "0"}, 0.0),
        ({"ATTEST_EMBEDDING_MODEL": "mine", "ATTEST_EMBEDDING_USD_PER_MILLION_TOKENS": "0.5"}, 0.5),
        ({"ATTEST_EMBEDDING_MODEL": "text-embedding-3-small", "ATTEST_EMBEDDING_BASE_URL": "http://h/v1"}, 0.0),
    ],
)
def test_only_what_is_paid_for_has_a_price(variables: dict[str, str], price: float) -> None:
    assert usd_per_million_tokens(from_environment(EmbeddingSettings, variables)) == price
