"""One question through all of it: gateway, answer, retrieval, Postgres, and back."""

import hashlib

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2

from tests.stack.local_stack import LocalStack

QUESTION = "How many days of annual leave do I have?"

pytestmark = pytest.mark.stack


def test_the_smallest_answer_that_a_client_may_rely_on(stack: LocalStack) -> None:
    reply = stack.post("/api/answer", {"question": QUESTION})

    assert reply.status == 200
    assert reply.body["outcome"] == "ANSWERED"
    assert reply.body["answer"].startswith("Every colleague has 25 days of annual leave a year. [1]")
    source = reply.body["sources"][0]
    assert (source["n"], source["source"], source["source_url"]) == (1, "Annual leave", "people/leave.md")
    assert source["cited"] is True
    assert source["similarity"] == round(source["similarity"], 3)
    assert source["snippet"] == source["content"][:240]


def test_every_released_sentence_is_quoted_from_the_source_it_cites(stack: LocalStack) -> None:
    body = stack.post("/api/answer", {"question": QUESTION}).body
    sources = {source["n"]: source for source in body["sources"]}

    assert body["sentences"]
    for sentence in body["sentences"]:
        assert sentence["verdict"] == "QUOTED"
        assert sentence["citations"]
        span = sentence["support"][0]
        quoted = sources[span["n"]]["content"][span["char_start"] : span["char_end"]]
        assert " ".join(quoted.split()) == sentence["text"]


def test_n_opens_the_right_passage(stack: LocalStack) -> None:
    body = stack.post("/api/answer", {"question": QUESTION}).body
    found = stack.post("/api/search", {"query": QUESTION}).body["passages"]

    assert [source["passage_id"] for source in body["sources"]] == [passage["passage_id"] for passage in found]
    for source in body["sources"]:
        assert source["content_sha256"] == hashlib.sha256(source["content"].encode()).hexdigest()


def test_the_record_says_how_and_never_what(stack: LocalStack) -> None:
    record = stack.post("/api/answer", {"question": QUESTION}).body["record"]

    assert record["q_hash"].startswith("v1:")
    assert record["q_len"] == len(QUESTION)
    assert record["outcome"] == "ANSWERED"
    assert record["guard_verdict"] == "CLEAN"
    assert record["generator"] == "extractive"
    assert record["embedding_model"] == "all-MiniLM-L6-v2"
    assert record["chunk_count"] >= 1
    assert record["latency_ms"] >= record["embed_ms"] + record["vector_search_ms"] > 0
    assert int(record["trace_id"], 16) > 0


def test_no_evidence_calls_no_generator(stack: LocalStack) -> None:
    """F98: the decision falls before any generator is called, also where the search has found something."""
    reply = stack.post("/api/answer", {"question": "Who composed the Moonlight Sonata?", "min_similarity": -1})

    assert reply.status == 200
    assert reply.body["outcome"] == "NO_EVIDENCE"
    assert reply.body["sources"] == []
    assert reply.body["sentences"] == []
    assert reply.body["record"]["generator"] == ""
    assert reply.body["record"]["generate_ms"] == 0


def test_the_same_bytes_again_change_nothing(stack: LocalStack) -> None:
    document = {"source_url": "people/again.md", "content": "# Again\n\nNothing changes the second time.\n"}
    first = stack.post("/api/documents", document).body
    second = stack.post("/api/documents", document).body

    assert (first["outcome"], second["outcome"]) == ("CREATED", "UNCHANGED")
    assert second["tokens_embedded"] == 0
    assert second["document"] == first["document"]


def test_a_new_version_takes_the_place_of_the_old_one(stack: LocalStack) -> None:
    """F81: no stale chunk is left of a longer old version."""
    address = "people/versions.md"
    long = "# Kettles\n\nThe kettle is descaled every Monday.\n\n## Filters\n\nThe water filter is changed in March.\n"
    short = "# Kettles\n\nThe kettle is descaled every Friday.\n"
    stack.post("/api/documents", {"source_url": address, "content": long})
    replaced = stack.post("/api/documents", {"source_url": address, "content": short}).body
    found = stack.post("/api/search", {"query": "When is the kettle descaled and the filter changed?", "top_k": 50})
    texts = [passage["content"] for passage in found.body["passages"] if passage["source_url"] == address]

    assert (replaced["outcome"], replaced["document"]["version"]) == ("REPLACED", 2)
    assert texts == [short.strip()]


@pytest.mark.parametrize("port", ["ANSWER", "HTTP"])
def test_grpcurl_answers_directly_and_through_the_gateway(stack: LocalStack, port: str) -> None:
    code, body, error = stack.grpcurl(port, "attest.answer.v1.AnswerService/Answer", {"question": QUESTION})

    assert code == 0, error
    assert body["outcome"] == "ANSWERED"


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_a_service_describes_itself_in_both_versions_of_reflection(stack: LocalStack, version: str) -> None:
    """The library serves the older one only, and not every grpcurl falls back on it."""
    with grpc.insecure_channel(f"127.0.0.1:{stack.ports['ANSWER']}") as channel:
        describe = channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        (described,) = describe(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=10)

    assert "attest.answer.v1.AnswerService" in {named.name for named in described.list_services_response.service}


@pytest.mark.parametrize(
    ("port", "service"),
    [
        ("ANSWER", "attest.answer.v1.AnswerService"),
        ("RETRIEVAL", "attest.retrieval.v1.RetrievalService"),
        ("INGEST", "attest.ingest.v1.IngestService"),
    ],
)
def test_each_service_says_that_it_is_ready_under_its_own_name(stack: LocalStack, port: str, service: str) -> None:
    code, body, error = stack.grpcurl(port, "grpc.health.v1.Health/Check", {"service": service})

    assert code == 0, error
    assert body == {"status": "SERVING"}


def test_a_question_of_the_longest_length_is_read_whole(stack: LocalStack) -> None:
    """The model reads 256 tokens; what is asked at the end of 4,000 characters must count too."""
    padding = "I have read the handbook and I am still not sure. " * 79
    question = padding[: 4000 - len(QUESTION)] + QUESTION
    passages = stack.post("/api/search", {"query": question, "min_similarity": -1}).body["passages"]
    without = stack.post("/api/search", {"query": padding[:4000].strip(), "min_similarity": -1}).body["passages"]
    best = {passage["passage_id"]: passage["similarity"] for passage in without}

    leave = next(passage for passage in passages if passage["source_url"] == "people/leave.md")
    assert leave["similarity"] > best.get(leave["passage_id"], -1)
