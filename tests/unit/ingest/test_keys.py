"""Document ids and chunk keys."""

import dataclasses
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from services.ingest.keys import chunk_keys, document_id
from services.ingest.model import Chunk

KEY = b"k" * 32
CHUNK = Chunk(0, "text", 0, 4, ("a", "b"), None, 3, "title\na\nb\ntext")

texts = st.text(st.sampled_from("ab/\x1f~1"), max_size=4)
addresses = st.tuples(texts, texts, texts)
identities = st.tuples(st.lists(texts, max_size=3).map(tuple), texts, texts)


def key_of(chunk: Chunk, key: bytes = KEY, tenant: str = "t", lane: str = "l", source: str = "s") -> str:
    return next(iter(chunk_keys(key, tenant, lane, source, [chunk])))


def test_ids_are_32_hex_characters() -> None:
    assert re.fullmatch("[0-9a-f]{32}", document_id(KEY, "t", "l", "s"))
    assert re.fullmatch("[0-9a-f]{32}", key_of(CHUNK))


def test_the_same_thing_gets_the_same_id() -> None:
    """F81: ingesting the same bytes again finds its chunks."""
    assert document_id(KEY, "t", "l", "s") == document_id(KEY, "t", "l", "s")
    assert key_of(CHUNK) == key_of(dataclasses.replace(CHUNK, ordinal=7, char_start=10, char_end=14, token_count=9))


def test_everything_that_is_shown_or_embedded_changes_the_key() -> None:
    changed = {
        key_of(CHUNK),
        key_of(CHUNK, key=b"other" * 8),
        key_of(CHUNK, tenant="u"),
        key_of(CHUNK, lane="m"),
        key_of(CHUNK, source="r"),
        key_of(dataclasses.replace(CHUNK, content="texts")),
        key_of(dataclasses.replace(CHUNK, heading_path=("a",))),
        key_of(dataclasses.replace(CHUNK, embedding_text="other title\na\nb\ntext")),
    }

    assert len(changed) == 8


def test_repeats_are_told_apart_and_keep_their_order() -> None:
    other = dataclasses.replace(CHUNK, content="other")
    keyed = chunk_keys(KEY, "t", "l", "s", [CHUNK, other, CHUNK])

    assert list(keyed.values()) == [CHUNK, other, CHUNK]
    assert len(keyed) == 3


def test_a_chunk_that_moves_keeps_its_key() -> None:
    other = dataclasses.replace(CHUNK, content="other")

    assert set(chunk_keys(KEY, "t", "l", "s", [other, CHUNK])) == set(chunk_keys(KEY, "t", "l", "s", [CHUNK, other]))


@settings(deadline=None)
@given(addresses, addresses)
def test_document_ids_meet_only_for_the_same_address(one: tuple[str, str, str], two: tuple[str, str, str]) -> None:
    assert (document_id(KEY, *one) == document_id(KEY, *two)) == (one == two)


@settings(deadline=None)
@given(identities, identities)
def test_chunk_keys_meet_only_for_the_same_chunk(
    one: tuple[tuple[str, ...], str, str], two: tuple[tuple[str, ...], str, str]
) -> None:
    keys = [
        key_of(dataclasses.replace(CHUNK, heading_path=path, content=content, embedding_text=embedded))
        for path, content, embedded in (one, two)
    ]

    assert (keys[0] == keys[1]) == (one == two)
