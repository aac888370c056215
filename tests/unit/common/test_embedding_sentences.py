"""Vectors of sentences: from one pass, and packed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from services.common.embedding.encoder import Encoder
from services.common.embedding.files import packaged_minilm
from services.common.embedding.sentence_vectors import Span, late_vectors, pack, unpack

numbers = st.floats(-1, 1, width=32)
rows = arrays.arrays(np.float32, st.tuples(st.integers(0, 6), st.just(8)), elements=numbers)


@given(rows, st.data())
def test_what_was_packed_comes_back_within_half_a_step(vectors: NDArray[np.float32], data: st.DataObject) -> None:
    offsets = st.integers(0, 2**32 - 1)
    spans = [data.draw(st.tuples(offsets, offsets)) for _ in vectors]

    found, unpacked = unpack(pack(spans, vectors), 8)

    assert found == spans
    # A scale below float32's normal range loses more than half a step, of next to nothing.
    half = np.abs(vectors).max(axis=1, initial=0.0) / 127 / 2 + 1e-37
    assert np.all(np.abs(unpacked - vectors) <= half[:, None] * 1.001)


@given(rows)
def test_packing_again_changes_nothing(vectors: NDArray[np.float32]) -> None:
    spans = [(0, 1)] * len(vectors)
    once = unpack(pack(spans, vectors), 8)[1]

    np.testing.assert_allclose(unpack(pack(spans, once), 8)[1], once, rtol=1e-5, atol=1e-37)


@given(st.binary(max_size=60))
def test_any_other_bytes_are_refused_or_read_within_bounds(packed: bytes) -> None:
    try:
        spans, vectors = unpack(packed, 8)
    except ValueError:
        return
    assert len(packed) == 1 + 20 * len(spans) == 1 + 20 * len(vectors)


@pytest.mark.parametrize("packed", [b"", b"\x02", b"\x01short", b"\x00" * 21])
def test_bytes_of_another_form_are_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="not packed sentence vectors"):
        unpack(packed, 8)


def test_a_vector_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="one vector per span"):
        pack([(0, 1), (1, 2)], np.zeros((1, 8), np.float32))


def test_a_token_counts_for_the_sentence_that_it_begins_in() -> None:
    states = np.array([[3, 0], [0, 4], [0, 6]], np.float32)

    found = late_vectors(states, np.array([0, 4, 9]), [(0, 5), (5, 12), (12, 20)])

    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 1], [0, 0]])


def test_a_token_at_the_end_of_a_sentence_is_the_next_ones() -> None:
    states = np.array([[1, 0], [0, 1]], np.float32)

    np.testing.assert_array_equal(late_vectors(states, np.array([0, 5]), [(0, 5), (5, 9)]), states)


def test_no_sentences_give_no_rows() -> None:
    assert late_vectors(np.ones((3, 2), np.float32), np.arange(3), []).shape == (0, 2)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(packaged_minilm())


TEXT = "Kettles are on the third floor. Visitors sign in at the desk! \U0001f600 Who has the key?"
SPANS: list[Span] = [(0, 32), (32, 62), (62, len(TEXT))]


def test_the_vector_of_the_text_is_the_same_with_its_sentences(encoder: Encoder) -> None:
    vector, sentences = encoder.embed_with_sentences(TEXT, SPANS)

    np.testing.assert_array_equal(vector, encoder.embed(TEXT))
    assert sentences.shape == (3, 384)


def test_a_sentence_is_nearest_to_what_it_says(encoder: Encoder) -> None:
    _, sentences = encoder.embed_with_sentences(TEXT, SPANS)

    for asked, says in (("Where is the kettle?", 0), ("Where do guests register?", 1), ("Who owns the key?", 2)):
        assert int((sentences @ encoder.embed(asked)).argmax()) == says


def test_a_sentence_of_one_word_is_where_the_word_begins(encoder: Encoder) -> None:
    _, sentences = encoder.embed_with_sentences("kettle desk", [(0, 1), (6, 7), (7, 8)])

    assert [bool(row.any()) for row in sentences] == [True, False, True]


def test_one_sentence_that_is_the_whole_text_leaves_out_the_marks_around_it_alone(encoder: Encoder) -> None:
    vector, sentences = encoder.embed_with_sentences(TEXT, [(0, len(TEXT))])

    assert 0.99 < float(sentences[0] @ vector) < 1
