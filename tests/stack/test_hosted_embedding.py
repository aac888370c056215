"""A whole stack that embeds through an endpoint, and a home that another model embedded."""

import os
from collections.abc import Iterator

import psutil
import pytest

from tests.fakes.openai import KEY, MODEL, FakeOpenAi, fake_openai, refusing
from tests.stack.local_stack import LocalStack, temporary_home

QUESTION = "How many days of annual leave does every colleague have?"
LEAVE = "# Annual leave\n\nEvery colleague has 25 days of annual leave a year.\n\n## Asking\n\nAsk two weeks ahead.\n"

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeOpenAi]:
    with fake_openai() as made:
        yield made


@pytest.fixture(scope="module")
def hosted_stack(fake: FakeOpenAi) -> Iterator[LocalStack]:
    settings = {"EMBEDDING_MODEL": MODEL, "EMBEDDING_BASE_URL": fake.url, "EMBEDDING_API_KEY": KEY}
    with temporary_home() as home:
        stack = LocalStack.in_folder(home, RATE_LIMIT_PER_MINUTE="100000", LOG_LEVEL="DEBUG", **settings)
        stack.up()
        try:
            yield stack
        finally:
            assert stack.attest("down").returncode == 0


def test_a_document_is_ingested_and_a_question_about_it_answered(fake: FakeOpenAi, hosted_stack: LocalStack) -> None:
    told = hosted_stack.post("/api/documents", {"source_url": "people/leave.md", "content": LEAVE})
    again = hosted_stack.post("/api/documents", {"source_url": "people/leave.md", "content": LEAVE})
    texts = list(fake.texts)
    reply = hosted_stack.post("/api/answer", {"question": QUESTION})
    found = hosted_stack.post("/api/search", {"query": QUESTION})

    assert told.status == 200, told.body
    assert again.body["outcome"] == "UNCHANGED"
    assert sum("25 days" in text for text in texts) == 1
    assert reply.body["outcome"] == "ANSWERED", reply.body
    assert "25 days" in reply.body["answer"]
    assert found.body["embedding_model"] == MODEL
    assert fake.texts[len(texts) :] == [QUESTION, QUESTION]


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (429, "insufficient_quota", (400, "MODEL_QUOTA_EXHAUSTED")),
        (401, "invalid_api_key", (400, "MODEL_ACCESS_DENIED")),
    ],
)
def test_a_failure_of_the_endpoint_reaches_the_caller_by_its_name(
    fake: FakeOpenAi, hosted_stack: LocalStack, status: int, code: str, expected: tuple[int, str]
) -> None:
    fake.faults.append(refusing(status, code))
    reply = hosted_stack.post("/api/answer", {"question": QUESTION})

    assert (reply.status, reply.body["reason"]) == expected


@pytest.mark.parametrize(("path", "field"), [("/api/answer", "question"), ("/api/search", "query")])
def test_attempts_do_not_multiply_on_the_way(fake: FakeOpenAi, hosted_stack: LocalStack, path: str, field: str) -> None:
    """F74: neither gateway nor channel repeats what was tried four times already."""
    fake.faults.extend([refusing(503, None)] * 40)
    before = len(fake.bodies)
    reply = hosted_stack.post(path, {field: QUESTION})
    fake.faults.clear()

    assert (reply.status, reply.body["reason"]) == (504, "MODEL_UNREACHABLE")
    assert len(fake.bodies) - before == 4


def test_a_document_that_fails_leaves_the_others_as_they_are(fake: FakeOpenAi, hosted_stack: LocalStack) -> None:
    fake.faults.append(refusing(400, None))
    failed = hosted_stack.post("/api/documents", {"source_url": "bad.md", "content": "# Bad\n\nIs refused.\n"})
    good = hosted_stack.post("/api/documents", {"source_url": "good.md", "content": "# Good\n\nIs taken.\n"})

    assert failed.body["reason"] == "MODEL_REQUEST_REFUSED"
    assert good.body["outcome"] == "CREATED"
    assert hosted_stack.attest("audit").returncode == 0


def test_the_key_is_told_to_those_alone_who_embed_and_written_nowhere(hosted_stack: LocalStack) -> None:
    """Nor is the question, though every part logs all that it can."""
    knowing = {
        name
        for name, part in hosted_stack.state()["parts"].items()
        if KEY in psutil.Process(part["pid"]).environ().values()
    }
    secrets = [KEY.encode(), QUESTION.encode()]
    written = [
        path
        for path in hosted_stack.home.rglob("*")
        if path.is_file() and os.access(path, os.R_OK) and any(secret in path.read_bytes() for secret in secrets)
    ]

    assert knowing == {"ingest", "retrieval"}
    assert written == []


def test_a_library_of_another_model_is_refused_with_what_to_do(fake: FakeOpenAi, own_stack: LocalStack) -> None:
    """F11: vectors of two models never meet."""
    own_stack.up()
    assert own_stack.post("/api/documents", {"source_url": "leave.md", "content": LEAVE}).status == 200
    own_stack.attest("down")
    settings = {"EMBEDDING_MODEL": MODEL, "EMBEDDING_BASE_URL": fake.url, "EMBEDDING_API_KEY": KEY}
    refused = LocalStack(own_stack.home, own_stack.ports, settings).attest("up")
    own_stack.up()

    assert refused.returncode == 1
    assert "The library was embedded by all-MiniLM-L6-v2 (384 dimensions)" in refused.stderr
    assert "Set ATTEST_EMBEDDING_MODEL" in refused.stderr
    assert own_stack.post("/api/answer", {"question": QUESTION}).body["outcome"] == "ANSWERED"


def test_a_wrong_key_is_told_by_the_start_of_the_stack(fake: FakeOpenAi, own_stack: LocalStack) -> None:
    settings = {"EMBEDDING_MODEL": MODEL, "EMBEDDING_BASE_URL": fake.url, "EMBEDDING_API_KEY": "sk-wrong-key"}
    refused = LocalStack(own_stack.home, own_stack.ports, settings).attest("up")

    assert refused.returncode == 1
    assert "The embedding endpoint refuses the key; check ATTEST_EMBEDDING_API_KEY." in refused.stderr
    assert "sk-wrong-key" not in refused.stderr
