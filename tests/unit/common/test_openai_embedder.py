"""The hosted embedder against a real HTTP server that answers well, badly, late or not at all."""

import asyncio
import json
import logging
import math
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.common.embedding.counters import HostedTokenizer
from services.common.embedding.files import packaged_minilm
from services.common.embedding.openai_embedder import OpenAiEmbedder
from services.common.embedding.openai_model import Encoding, RequestLimits
from services.common.embedding.patience import Patience
from services.common.errors import (
    DataLossError,
    DeadlineExceededError,
    DomainError,
    FailedPreconditionError,
    InvalidArgumentError,
    Reason,
    ResourceExhaustedError,
)
from tests.fakes import openai as fakes
from tests.fakes.openai import KEY, FakeOpenAi, Fault, changed, fake_openai, raw, refusing
from tests.unit.common.hosted import QUICK, embedding, endpoint_of, hosted

SHORT = "text-embedding-3-small-copy"
"""A model that the endpoint knows and this program does not, with vectors as short as the fake is told."""


@pytest.fixture
def fake() -> Iterator[FakeOpenAi]:
    with fake_openai() as made:
        yield made


@pytest.fixture
async def embedder(fake: FakeOpenAi) -> AsyncIterator[OpenAiEmbedder]:
    async with embedding(fake) as made:
        yield made


async def test_it_says_which_space_it_embeds_for(embedder: OpenAiEmbedder) -> None:
    assert (embedder.model_name, embedder.dimensions, embedder.max_tokens) == ("text-embedding-3-small", 1536, 8192)


async def test_a_request_says_how_vectors_are_to_be_written_and_nothing_that_was_not_set(
    fake: FakeOpenAi, embedder: OpenAiEmbedder
) -> None:
    """F79: several endpoints mishandle base64, or refuse `dimensions`."""
    await embedder.embed_query("a question")

    assert fake.bodies == [{"model": "text-embedding-3-small", "input": ["a question"], "encoding_format": "float"}]


async def test_base64_gives_the_same_vectors(fake: FakeOpenAi, embedder: OpenAiEmbedder) -> None:
    for ignores in (False, True):
        fake.ignores_encoding = ignores
        async with embedding(fake, model=hosted(encoding=Encoding.BASE64)) as by_bytes:
            vector = await by_bytes.embed_query("a question about leave")

        np.testing.assert_allclose(vector, await embedder.embed_query("a question about leave"), atol=1e-7)


async def test_shorter_vectors_are_asked_for_and_are_a_space_of_their_own(fake: FakeOpenAi) -> None:
    async with embedding(fake, model=hosted(asked_dimensions=512)) as embedder:
        vector = await embedder.embed_query("a question")

    assert fake.bodies[0]["dimensions"] == 512
    assert (vector.shape, embedder.dimensions, embedder.model_name) == ((512,), 512, "text-embedding-3-small@512")


async def test_the_length_of_an_unknown_model_is_learned_at_start() -> None:
    with fake_openai(dimensions=768) as fake:
        async with embedding(fake, model=hosted(SHORT)) as embedder:
            assert embedder.dimensions == 768


async def test_each_request_keeps_all_three_limits_and_no_text_is_lost() -> None:
    """F69; the fake refuses a request that is over one of them."""
    texts = [f"{index} " + "word " * (index % 7 * 900 + 1) for index in range(150)] + ["a"] * 3000
    with fake_openai(dimensions=16) as fake:
        async with embedding(fake, model=hosted(SHORT), connections=1) as embedder:
            vectors = await embedder.embed(texts)

    sizes = [sum(map(fakes.tokens_of, body["input"])) for body in fake.bodies]
    assert max(sizes) > 0.9 * fakes.MOST_REQUEST_TOKENS
    assert max(len(body["input"]) for body in fake.bodies) == fakes.MOST_INPUTS
    assert sorted(fake.texts) == sorted(texts)
    expected = [fakes.vector_of(text, 16) for text in texts]
    np.testing.assert_allclose([embedded.vector for embedded in vectors], expected, atol=1e-6)


async def test_texts_go_out_with_their_like_and_so_many_at_a_time_as_the_endpoint_takes(fake: FakeOpenAi) -> None:
    texts = ["word " * (index * 37 % 40 + 1) for index in range(40)]
    async with embedding(fake, model=hosted(limits=RequestLimits(inputs=10))) as embedder:
        await embedder.embed(texts)

    lengths = sorted([len(text) for text in body["input"]] for body in fake.bodies)
    assert [len(of_one) for of_one in lengths] == [10] * 4
    assert all(max(shorter) <= min(longer) for shorter, longer in pairwise(lengths))


async def test_a_batch_is_shared_out_to_all_connections(fake: FakeOpenAi, embedder: OpenAiEmbedder) -> None:
    await embedder.embed([f"text {index}" for index in range(embedder.batch)])
    await embedder.embed(["a few", "more"])

    assert [len(body["input"]) for body in fake.bodies] == [64, 64, 64, 64, 2]


async def test_no_more_requests_are_under_way_than_connections(fake: FakeOpenAi) -> None:
    """Three are held; what is asked while they are can only be a question."""
    async with embedding(fake, model=hosted(limits=RequestLimits(inputs=1)), connections=3) as embedder:
        fake.faults.extend([fakes.held] * 3)
        calls = [embedder.embed([f"text {call} {part}" for part in range(8)]) for call in range(4)]
        work = asyncio.gather(*calls)
        await until(lambda: fake.at_once == 3)
        for _ in range(5):
            await embedder.embed_query("a question")
        under_way = len(fake.bodies) - 5
        fake.released.set()
        await work

    assert (under_way, len(fake.bodies)) == (3, 32 + 5)


async def test_a_question_does_not_wait_for_documents(fake: FakeOpenAi) -> None:
    async with embedding(fake, connections=1) as embedder:
        fake.faults.append(fakes.held)
        work = asyncio.create_task(embedder.embed(["a document"]))
        await until(lambda: fake.at_once == 1)
        await embedder.embed_query("a question")

        assert not work.done()
        fake.released.set()
        await work


@pytest.mark.parametrize("text", ["", " \n"])
async def test_a_blank_text_is_refused_before_anything_is_asked(
    fake: FakeOpenAi, embedder: OpenAiEmbedder, text: str
) -> None:
    """F68: one of them would fail its whole batch."""
    with pytest.raises(InvalidArgumentError):
        await embedder.embed(["fine", text])

    assert fake.bodies == []


async def test_a_bad_text_fails_its_own_document_alone(fake: FakeOpenAi, embedder: OpenAiEmbedder) -> None:
    bad, good = await asyncio.gather(
        embedder.embed(["word " * 9000]), embedder.embed(["fine", "too"]), return_exceptions=True
    )

    assert isinstance(bad, InvalidArgumentError)
    assert isinstance(good, list)
    assert [body["input"] for body in fake.bodies] == [["fine", "too"]]


async def test_a_huge_text_is_refused_without_being_counted(embedder: OpenAiEmbedder) -> None:
    started = time.monotonic()
    with pytest.raises(InvalidArgumentError):
        await embedder.embed_query("a" * 4_000_000)

    assert time.monotonic() - started < 2


async def test_what_the_endpoint_counted_is_summed(embedder: OpenAiEmbedder) -> None:
    before = embedder.tokens_used
    await embedder.embed(["hello world", "hello"])

    assert embedder.tokens_used - before == 3


PASSING: dict[str, Fault] = {
    "rate limit": refusing(429, "rate_limit_exceeded", "requests"),
    "rate limit without a code": raw(b"slow down", 429),
    "server error": refusing(500, None, "server_error"),
    "overloaded": raw(b"<html>", 503),
    "half a reply": fakes.cut_off,
    "half a JSON": fakes.half_of_the_json,
    "no reply": fakes.hung_up,
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
async def test_what_passes_is_tried_again(fake: FakeOpenAi, embedder: OpenAiEmbedder, fault: Fault) -> None:
    fake.faults.extend([fault] * 3)
    await embedder.embed(["a passage"])

    assert len(fake.bodies) == 4


LASTING: dict[str, tuple[Fault, type[DomainError], Reason]] = {
    "quota": (refusing(429, "insufficient_quota"), FailedPreconditionError, Reason.MODEL_QUOTA_EXHAUSTED),
    "quota by type": (refusing(429, None, "insufficient_quota"), FailedPreconditionError, Reason.MODEL_QUOTA_EXHAUSTED),
    "key": (refusing(401, "invalid_api_key"), FailedPreconditionError, Reason.MODEL_ACCESS_DENIED),
    "access": (refusing(403, None), FailedPreconditionError, Reason.MODEL_ACCESS_DENIED),
    "model": (refusing(404, "model_not_found"), FailedPreconditionError, Reason.MODEL_UNKNOWN),
    "project without model": (refusing(403, "model_not_found"), FailedPreconditionError, Reason.MODEL_UNKNOWN),
    "no such path": (raw(b"nothing here", 404), FailedPreconditionError, Reason.MODEL_UNKNOWN),
    "length": (refusing(400, "context_length_exceeded"), InvalidArgumentError, Reason.TEXT_TOO_LONG_FOR_MODEL),
    "request": (refusing(400, None), FailedPreconditionError, Reason.MODEL_REQUEST_REFUSED),
    "redirect": (raw(b"", 307, location="http://127.0.0.1:1/"), FailedPreconditionError, Reason.MODEL_REQUEST_REFUSED),
    "row missing": (changed(lambda rows: rows.pop()), DataLossError, Reason.MODEL_REPLY_INVALID),
    "row too many": (changed(lambda rows: rows.append(rows[0])), DataLossError, Reason.MODEL_REPLY_INVALID),
    "no rows": (raw(b'{"data": null}'), DataLossError, Reason.MODEL_REPLY_INVALID),
    "row twice": (changed(lambda rows: rows[1].update(index=0)), DataLossError, Reason.MODEL_REPLY_INVALID),
    "no index": (changed(lambda rows: rows[1].pop("index")), DataLossError, Reason.MODEL_REPLY_INVALID),
    "index beyond": (changed(lambda rows: rows[1].update(index=2)), DataLossError, Reason.MODEL_REPLY_INVALID),
    "zero": (changed(lambda rows: rows[0].update(embedding=[0.0] * 1536)), DataLossError, Reason.MODEL_REPLY_INVALID),
    "NaN": (
        changed(lambda rows: rows[0]["embedding"].__setitem__(7, math.nan)),
        DataLossError,
        Reason.MODEL_REPLY_INVALID,
    ),
    "infinite": (
        changed(lambda rows: rows[0]["embedding"].__setitem__(7, math.inf)),
        DataLossError,
        Reason.MODEL_REPLY_INVALID,
    ),
    "null": (
        changed(lambda rows: rows[0]["embedding"].__setitem__(7, None)),
        DataLossError,
        Reason.MODEL_REPLY_INVALID,
    ),
    "too short": (changed(lambda rows: rows[1]["embedding"].pop()), DataLossError, Reason.MODEL_REPLY_INVALID),
    "a quarter": (
        changed(lambda rows: rows[0].update(embedding="AAAAAA==")),
        DataLossError,
        Reason.MODEL_REPLY_INVALID,
    ),
    "endless": (raw(b" " * 300_000), DataLossError, Reason.MODEL_REPLY_INVALID),
}


@pytest.mark.parametrize(("fault", "kind", "reason"), LASTING.values(), ids=LASTING)
async def test_what_does_not_pass_is_told_apart_and_never_tried_again(
    fake: FakeOpenAi, embedder: OpenAiEmbedder, fault: Fault, kind: type[DomainError], reason: Reason
) -> None:
    """F72: a quota that is used up is no rate limit."""
    fake.faults.append(fault)
    with pytest.raises(DomainError) as raised:
        await embedder.embed(["a passage", "another"])

    assert (type(raised.value), raised.value.reason, len(fake.bodies)) == (kind, reason, 1)


@pytest.mark.parametrize(
    ("fault", "kind", "reason"),
    [
        (refusing(503), DeadlineExceededError, Reason.MODEL_UNREACHABLE),
        (refusing(429, "rate_limit_exceeded"), ResourceExhaustedError, Reason.MODEL_BUSY),
    ],
)
async def test_attempts_do_not_multiply(
    fake: FakeOpenAi, embedder: OpenAiEmbedder, fault: Fault, kind: type[DomainError], reason: Reason
) -> None:
    """F74: one layer of retries, whatever the library would do by itself."""
    fake.faults.extend([fault] * 20)
    with pytest.raises(kind) as raised:
        await embedder.embed_query("a question")

    assert raised.value.reason is reason
    assert len(fake.bodies) == QUICK.attempts


async def test_a_pause_that_the_endpoint_asks_for_is_kept_or_the_call_fails_at_once(
    fake: FakeOpenAi, embedder: OpenAiEmbedder
) -> None:
    fake.faults.append(refusing(429, "rate_limit_exceeded", retry_after_ms="300"))
    started = time.monotonic()
    await embedder.embed_query("a question")
    assert time.monotonic() - started >= 0.3

    fake.faults.append(refusing(429, "rate_limit_exceeded", retry_after="3600"))
    started = time.monotonic()
    with pytest.raises(ResourceExhaustedError):
        await embedder.embed_query("a question")
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("fault", [fakes.held, fakes.dripping], ids=["silent", "dripping"])
async def test_a_slow_endpoint_is_left_when_the_time_is_over(fake: FakeOpenAi, fault: Fault) -> None:
    """F75: a timeout between two bytes does not end a reply that drips."""
    patience = Patience(attempts=9, seconds=0.6, question_seconds=20.0, first_pause=0.01)
    async with embedding(fake, patience=patience) as embedder:
        fake.faults.extend([fault] * 9)
        started = time.monotonic()
        with pytest.raises(DeadlineExceededError):
            await embedder.embed(["a passage"])

    assert 0.5 < time.monotonic() - started < 3
    assert 1 <= len(fake.bodies) <= 2


async def test_an_attempt_that_hangs_leaves_time_for_another(fake: FakeOpenAi) -> None:
    patience = Patience(attempts=2, seconds=4.0, question_seconds=20.0, first_pause=0.01)
    async with embedding(fake, patience=patience) as embedder:
        fake.faults.append(fakes.held)

        assert len(await embedder.embed(["a passage"])) == 1


async def test_a_call_ends_before_its_callers_deadline(fake: FakeOpenAi) -> None:
    """F49: whoever has gone needs no answer."""
    left = 20.0
    async with embedding(fake, time_remaining=lambda: left) as embedder:
        fake.faults.extend([fakes.held] * 9)
        left = 0.5
        started = time.monotonic()
        with pytest.raises(DeadlineExceededError) as raised:
            await embedder.embed_query("a question")

    assert raised.value.reason is Reason.MODEL_UNREACHABLE
    assert time.monotonic() - started < 2


async def test_a_question_has_less_time_than_a_document(fake: FakeOpenAi) -> None:
    patience = Patience(attempts=2, seconds=20.0, question_seconds=20.0, first_pause=0.01)
    hurried = Patience(attempts=2, seconds=20.0, question_seconds=0.3, first_pause=0.01)
    async with embedding(fake, patience=patience) as slow, embedding(fake, patience=hurried) as quick:
        fake.faults.append(fakes.held)
        document = asyncio.create_task(slow.embed(["a document"]))
        await until(lambda: fake.at_once == 1)
        fake.faults.extend([fakes.held] * 2)
        started = time.monotonic()
        with pytest.raises(DeadlineExceededError):
            await quick.embed_query("a question")
        assert time.monotonic() - started < 5

        fake.released.set()
        assert len(await document) == 1


async def test_nothing_listens_there() -> None:
    with fake_openai() as gone:
        pass
    patience = Patience(attempts=2, seconds=5.0, question_seconds=5.0, first_pause=0.01)
    async with embedding(gone, patience=patience) as embedder:
        with pytest.raises(DeadlineExceededError) as raised:
            await embedder.embed_query("a question")

    assert raised.value.reason is Reason.MODEL_UNREACHABLE


START = {
    "key": (refusing(401, "invalid_api_key"), Reason.MODEL_ACCESS_DENIED),
    "model": (refusing(404, "model_not_found"), Reason.MODEL_UNKNOWN),
    "length": (changed(lambda rows: rows[0]["embedding"].pop()), Reason.MODEL_REPLY_INVALID),
}


@pytest.mark.parametrize(("fault", "reason"), START.values(), ids=START)
async def test_wrong_settings_are_told_at_start(fake: FakeOpenAi, fault: Fault, reason: Reason) -> None:
    fake.faults.append(fault)
    with pytest.raises(DomainError) as raised:
        async with embedding(fake):
            pass

    assert raised.value.reason is reason


@pytest.mark.parametrize("fault", [refusing(503), refusing(429, "insufficient_quota"), refusing(429)])
async def test_an_endpoint_that_is_away_at_start_stops_only_what_cannot_do_without(
    fake: FakeOpenAi, fault: Fault
) -> None:
    fake.faults.extend([fault] * QUICK.attempts)
    async with embedding(fake) as embedder:
        fake.faults.clear()
        assert (await embedder.embed_query("back again")).shape == (1536,)

    fake.faults.extend([fault] * QUICK.attempts)
    with pytest.raises(DomainError):
        async with embedding(fake, model=hosted(SHORT)):
            pass


async def test_no_key_is_sent_where_there_is_none() -> None:
    with fake_openai(key=None) as fake:
        async with OpenAiEmbedder(hosted(), endpoint_of(fake, key=None), QUICK, lambda: 60.0):
            pass

        assert "authorization" not in fake.headers[0]


async def test_the_variables_of_the_library_have_no_say(fake: FakeOpenAi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("OPENAI_ORG_ID", "somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-extra: 1")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with OpenAiEmbedder(hosted(), endpoint_of(fake), QUICK, lambda: 60.0):
        pass

    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"
    assert not {"openai-organization", "x-extra"} & fake.headers[0].keys()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody but itself vouches for, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fake")])
    begin = datetime.now(UTC) - timedelta(hours=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path_factory.mktemp("tls") / "fake.pem"
    path.write_bytes(made.public_bytes(pem) + private)
    return path


async def test_a_certificate_is_trusted_where_ssl_cert_file_vouches_for_it_and_nowhere_else(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_openai(certificate=certificate) as fake:
        with pytest.raises(FailedPreconditionError, match="SSL_CERT_FILE"):
            async with embedding(fake):
                pass
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with embedding(fake) as embedder:
            await embedder.embed_query("a question")

    assert len(fake.bodies) == 1


async def test_neither_key_nor_text_is_logged_or_told(
    fake: FakeOpenAi, embedder: OpenAiEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    """The fake's errors quote both, as OpenAI's do."""
    caplog.set_level(logging.DEBUG)
    told = []
    for fault in (refusing(401, "invalid_api_key"), refusing(400), refusing(429, "insufficient_quota")):
        fake.faults.append(fault)
        with pytest.raises(DomainError) as raised:
            await embedder.embed_query("my secret illness")
        told.append(f"{raised.value} {raised.value.metadata} {raised.value.__cause__}")
    await embedder.embed_query("my secret illness")
    logged = json.dumps([vars(record) for record in caplog.records], default=str)

    for text in ("illness", KEY, KEY[:10]):
        assert text not in logged
        assert text not in str(told)
    assert KEY not in f"{endpoint_of(fake)!r}"


async def test_leaving_closes_the_connections(fake: FakeOpenAi) -> None:
    async with embedding(fake) as embedder:
        await embedder.embed_query("a question")
        client = embedder._requests._opened._client
        assert not client.is_closed()

    assert client.is_closed()
    with pytest.raises(RuntimeError, match="outside"):
        await embedder.embed_query("a question")


def test_the_client_is_not_loaded_where_the_model_runs_in_the_process() -> None:
    program = (
        "import sys; import services.ingest.main, services.retrieval.main;"
        "sys.exit(' '.join({'openai', 'tiktoken', 'pydantic', 'requests'} & sys.modules.keys()) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


async def test_a_tokenizer_of_another_model_is_a_file(fake: FakeOpenAi) -> None:
    source = HostedTokenizer(str(packaged_minilm().tokenizer), 256)
    async with embedding(fake, model=hosted(tokenizer=source)) as embedder:
        await embedder.embed_query("word " * 254)
        with pytest.raises(InvalidArgumentError) as raised:
            await embedder.embed_query("word " * 255)

    assert raised.value.metadata == {"tokens": "257", "maxTokens": "256"}


async def until(condition: object, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not come to pass"
        await asyncio.sleep(0.005)
