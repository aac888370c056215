"""Latency of a warm answer: over REST, over gRPC, and the bare model on the same question, in one interleaved run.

Usage, against a running stack whose limit is out of the way:

    ATTEST_RATE_LIMIT_PER_MINUTE=1000000 make demo && .venv/bin/python bench/answer_latency.py
"""

import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import click
import httpx2

from attest.answer.v1.answer_service_pb2 import AnswerRequest
from attest.answer.v1.answer_service_pb2_grpc import AnswerServiceStub
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.rpc.client import channel

QUESTIONS = Path(__file__).resolve().parents[1] / "examples" / "questions.json"
WARM_UP = 5
NOISY = 1.0
"""One-minute load per core above which figures say little."""

Ways = dict[str, Callable[[str], Awaitable[object]]]


@click.command()
@click.option("--http", default="http://127.0.0.1:8080", show_default=True, help="Address of the gateway.")
@click.option("--grpc", "target", default="127.0.0.1:50053", show_default=True, help="Address of the answer service.")
@click.option("--rounds", default=10, show_default=True, help="Rounds over all questions.")
def main(http: str, target: str, rounds: int) -> None:
    """Print median and 95th percentile of each way in milliseconds."""
    questions = [entry["question"] for entry in json.loads(QUESTIONS.read_text())]
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    for name, times in asyncio.run(_measure(http, target, questions, rounds)).items():
        cuts = statistics.quantiles(times, n=20)
        click.echo(f"{name:<12} median {statistics.median(times):6.1f} ms   p95 {cuts[18]:6.1f} ms   n {len(times)}")
    if load > NOISY:
        click.echo(f"The machine was busy (load {load:.1f} a core before the run): read ratios, not milliseconds.")


async def _measure(http: str, target: str, questions: list[str], rounds: int) -> dict[str, list[float]]:
    async with (
        httpx2.AsyncClient(base_url=http, trust_env=False, timeout=60) as client,
        channel(f"dns:///{target}") as opened,
        OnnxEmbedder(packaged_minilm()) as embedder,
    ):
        stub = AnswerServiceStub(opened)

        async def over_rest(question: str) -> None:
            (await client.post("/api/answer", json={"question": question})).raise_for_status()

        async def over_grpc(question: str) -> None:
            await stub.Answer(AnswerRequest(question=question), timeout=60)

        ways: Ways = {"REST": over_rest, "gRPC": over_grpc, "bare model": embedder.embed_query}
        for question in questions[:WARM_UP]:
            await _once(ways, question)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for question in questions:
                for name, took in (await _once(ways, question)).items():
                    times[name].append(took)
        return times


async def _once(ways: Ways, question: str) -> dict[str, float]:
    took = {}
    for name, way in ways.items():
        began = time.perf_counter()
        await way(question)
        took[name] = (time.perf_counter() - began) * 1000
    return took


if __name__ == "__main__":
    main()
