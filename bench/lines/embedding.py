"""The embedding path of a service against the bare loop over ONNX Runtime, on chunks and on questions."""

import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import numpy as np
from tokenizers import Tokenizer

from bench.rounds import Way
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.embedding.precision import Precision, processor_flags, sums_saturate
from services.common.embedding.rewrite import integer, trimmed
from services.common.embedding.runtime import onnxruntime

BATCH = 4
CHUNK = (
    "A lost or stolen laptop must be reported to the IT desk within 2 hours of noticing it. The desk locks the disk "
    "from afar and tells the insurer. Whoever lost it fills in the form on the same day and keeps the police report. "
)
CHUNKS = [f"Part {number}. {CHUNK * 3}" for number in range(BATCH)]
QUESTIONS = [f"How soon must I report stolen laptop number {number}?" for number in range(BATCH)]


@asynccontextmanager
async def ways(texts: Sequence[str], *, as_questions: bool = False) -> AsyncIterator[dict[str, Way]]:
    """Open the model by both paths in both precisions; a round is all of `texts`.

    The floor runs in a loop on this thread: tokenizer, session, mean, length. It checks nothing.
    """
    files = packaged_minilm()
    onnx, tokenizer = files.read()
    floors = {
        Precision.INT8: _bare(integer(onnx), tokenizer),
        Precision.EXACT: _bare(trimmed(onnx), tokenizer),
        None: _bare(onnx, tokenizer),
    }
    as_packaged = dataclasses.replace(files, is_rewritable=False)
    async with (
        OnnxEmbedder(files, precision=Precision.INT8) as by_integers,
        OnnxEmbedder(files, precision=Precision.EXACT) as exact,
        OnnxEmbedder(as_packaged) as before,
    ):

        def path(embedder: OnnxEmbedder) -> Way:
            async def one_by_one(_: int) -> None:
                for text in texts:
                    await embedder.embed_query(text)

            async def together(_: int) -> None:
                await embedder.embed(texts)

            return one_by_one if as_questions else together

        def bare(precision: Precision | None) -> Way:
            async def loop(_: int) -> None:
                for text in texts:
                    floors[precision](text)

            return loop

        yield {
            "bare int8": bare(Precision.INT8),
            "service int8": path(by_integers),
            "bare exact": bare(Precision.EXACT),
            "service exact": path(exact),
            "bare, as packaged": bare(None),
            "service, as packaged": path(before),
        }


def _bare(onnx: bytes, tokenizer: bytes) -> Callable[[str], object]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
    options.log_severity_level = 3
    if sums_saturate(processor_flags()):
        options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
    names = [node.name for node in session.get_inputs()]
    loaded = Tokenizer.from_buffer(tokenizer)
    loaded.no_truncation()
    loaded.no_padding()

    def embed(text: str) -> object:
        encoding = loaded.encode(text)
        rows = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        states = session.run(None, {name: np.array([rows[name]]) for name in names})[0][0]
        mean = states.mean(axis=0)
        return mean / np.linalg.norm(mean)

    return embed
