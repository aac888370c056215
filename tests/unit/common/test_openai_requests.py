"""What a request may hold, and what is made of a reply: pure functions."""

import base64
import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.embedding.openai_batches import batches
from services.common.embedding.openai_failures import AttemptError
from services.common.embedding.openai_model import RequestLimits
from services.common.embedding.openai_reply import read_reply


@given(st.lists(st.integers(1, 60), max_size=60), st.integers(1, 8), st.integers(60, 200))
def test_every_text_is_in_one_batch_and_no_batch_is_over_a_limit(tokens: list[int], inputs: int, most: int) -> None:
    """F69."""
    made = list(batches(tokens, RequestLimits(inputs, most)))

    assert sorted(position for batch in made for position in batch) == list(range(len(tokens)))
    assert all(len(batch) <= inputs and sum(tokens[position] for position in batch) <= most for batch in made)


@given(st.lists(st.integers(1, 60), max_size=60), st.integers(1, 8))
def test_batches_go_from_the_longest_text_to_the_shortest_and_none_is_begun_too_early(
    tokens: list[int], inputs: int
) -> None:
    made = list(batches(tokens, RequestLimits(inputs, 100)))
    lengths = [tokens[position] for batch in made for position in batch]

    assert lengths == sorted(lengths, reverse=True)
    for batch, following in pairwise(made):
        used = sum(tokens[position] for position in batch)
        assert len(batch) == inputs or used + tokens[following[0]] > 100


def test_a_text_over_the_limit_of_a_request_goes_alone() -> None:
    assert list(batches([5, 900, 5], RequestLimits(10, 100))) == [[1], [0, 2]]


def reply(rows: list[tuple[int, Any]], **more: Any) -> bytes:
    return json.dumps({"data": [{"index": index, "embedding": row} for index, row in rows], **more}).encode()


def test_rows_are_placed_by_index_and_scaled_to_length_one() -> None:
    read = read_reply(reply([(1, [0.0, 2.0]), (0, [3.0, 4.0])], usage={"total_tokens": 7}), 2, 2)

    np.testing.assert_allclose(read.vectors, [[0.6, 0.8], [0.0, 1.0]], atol=1e-7)
    assert (read.vectors.dtype, read.tokens) == (np.float32, 7)


def test_numbers_and_base64_may_stand_beside_each_other() -> None:
    written = base64.b64encode(np.array([3, 4], dtype="<f4").tobytes()).decode()

    np.testing.assert_array_equal(*read_reply(reply([(0, [3.0, 4.0]), (1, written)]), 2, None).vectors)


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": "7"}, {"total_tokens": -1}, [7]])
def test_what_is_not_counted_costs_nothing(usage: Any) -> None:
    assert read_reply(reply([(0, [1.0])], usage=usage), 1, None).tokens == 0


json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "index"]), inner, max_size=2),
    max_leaves=6,
)


@given(st.lists(st.fixed_dictionaries({"index": st.integers(0, 1) | json_value, "embedding": json_value}), max_size=3))
def test_no_reply_is_taken_that_is_not_finite_and_of_length_one(rows: list[dict[str, Any]]) -> None:
    try:
        read = read_reply(json.dumps({"data": rows}).encode(), len(rows) or 1, None)
    except AttemptError:
        return

    np.testing.assert_allclose(np.linalg.norm(read.vectors, axis=1), 1, atol=1e-5)
    assert len(read.vectors) == len(rows)


@given(st.binary(max_size=40) | json_value.map(lambda value: json.dumps(value).encode()))
def test_whatever_comes_back_is_named(content: bytes) -> None:
    with pytest.raises(AttemptError):
        read_reply(content, 1, None)
