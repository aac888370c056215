import pytest

from attest.answer.v1 import answer_service_pb2 as pb
from evals.citations import faults

CONTENT = "Berlin lies on\nthe Spree. It is old [7]."


def response(**changes: object) -> pb.AnswerResponse:
    sentence = {
        "text": "Berlin lies on the Spree.",
        "citations": [1],
        "support": [pb.SupportSpan(n=1, char_start=0, char_end=25)],
    }
    sentence.update(changes)
    answer = f"{sentence['text']} [1]"
    sources = [pb.Source(n=1, content=CONTENT)]
    return pb.AnswerResponse(answer=answer, sources=sources, sentences=[pb.Sentence(**sentence)])  # type: ignore[arg-type]


def test_a_sound_answer_has_no_fault() -> None:
    assert faults(response()) == ()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"citations": []}, "sentence-without-citation"),
        ({"citations": [1, 2]}, "citation-without-source"),
        ({"support": []}, "sentence-without-support"),
        ({"support": [pb.SupportSpan(n=1, char_start=1, char_end=25)]}, "support-not-verbatim"),
        ({"support": [pb.SupportSpan(n=2, char_start=0, char_end=25)]}, "support-not-verbatim"),
    ],
)
def test_each_fault_is_named(changes: dict[str, object], fault: str) -> None:
    assert fault in faults(response(**changes))


def test_a_marker_without_a_source_is_a_fault() -> None:
    made = response()
    made.answer += " [2]"

    assert faults(made) == ("marker-without-source",)


def test_a_number_in_brackets_of_the_document_itself_is_no_marker() -> None:
    span = pb.SupportSpan(n=1, char_start=26, char_end=40)

    assert faults(response(text="It is old [7].", support=[span])) == ()


def test_an_answer_without_sentences_is_a_fault() -> None:
    assert faults(pb.AnswerResponse(answer="Yes.")) == ("no-sentence",)
