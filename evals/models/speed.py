"""Processor time, load time and memory of models side by side, in turns.

Usage: `python -m evals.models.speed --models packaged,exact,int8,int8-saturating`
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import click
import numpy as np

from evals.models.variants import Model, variant

CHUNK = (
    "A lost or stolen laptop must be reported to the IT desk within 2 hours of noticing it. The desk locks the disk "
    "from afar and tells the insurer. Whoever lost it fills in the form on the same day and keeps the police report. "
)
TEXTS = {
    "question": [f"How soon must I report stolen laptop number {number}?" for number in range(8)],
    "chunk": [f"Part {number}. {CHUNK * 4}" for number in range(8)],
}
_ALONE = """
import json, sys, time
import numpy, onnxruntime, tokenizers
from evals.models.variants import Model, variant
def resident():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) / 1024
before, began = resident(), time.process_time()
model = Model(variant(sys.argv[1]))
model.embed("a question")
loaded, after = time.process_time() - began, resident()
for _ in range(20):
    model.embed("word " * 250)
print(json.dumps({"load CPU s": loaded, "RSS MB": after - before, "RSS MB after 20 chunks": resident() - before}))
"""


@click.command()
@click.option("--models", default="packaged,exact,int8,int8-saturating", show_default=True, help="Variants or folders.")
@click.option("--rounds", default=10, show_default=True, help="Rounds over all of them.")
def main(models: str, rounds: int) -> None:
    """Print CPU milliseconds a text, then what threads, spinning and batches change, then load and memory."""
    names = models.split(",")
    loaded = {name: Model(variant(name)) for name in names}
    for kind, texts in TEXTS.items():
        ways = {name: _one_by_one(model, texts) for name, model in loaded.items()}
        _show(f"{kind}, one at a time", _measured(ways, rounds, len(texts)), names[0])
        ways = {name: _batch(model, texts) for name, model in loaded.items()}
        _show(f"{kind}, batch of 8", _measured(ways, rounds, len(texts)), names[0])
    for name in names:
        _show_threads(name, rounds)
    for name in names:
        click.echo(f"{name}: {_alone(name)}")


def _show_threads(name: str, rounds: int) -> None:
    made = variant(name)
    models = {
        "1 thread": Model(made),
        "2 threads": Model(made, threads=2),
        "2 threads, spinning": Model(made, threads=2, spinning=True),
    }
    for kind, texts in TEXTS.items():
        ways = {label: _one_by_one(model, texts) for label, model in models.items()}
        _show(f"{name}, {kind}", _measured(ways, rounds, len(texts)), "1 thread")


def _one_by_one(model: Model, texts: Sequence[str]) -> Callable[[], object]:
    return lambda: [model.embed(text) for text in texts]


def _batch(model: Model, texts: Sequence[str]) -> Callable[[], object]:
    return lambda: [model.pooled(states) for states in model.states([model.encode(text) for text in texts])]


def _measured(
    ways: Mapping[str, Callable[[], object]], rounds: int, texts: int
) -> Mapping[str, tuple[list[float], list[float]]]:
    """Return CPU and wall milliseconds a text of each way, round by round."""
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            worked, began = time.process_time(), time.perf_counter()
            way()
            found[name][0].append((time.process_time() - worked) * 1000 / texts)
            found[name][1].append((time.perf_counter() - began) * 1000 / texts)
    return found


def _show(title: str, found: Mapping[str, tuple[list[float], list[float]]], first: str) -> None:
    click.echo(title)
    for name, (cpu, wall) in found.items():
        ratio = np.median(np.array(cpu) / np.array(found[first][0]))
        waited = np.median(np.array(wall) / np.array(found[first][1]))
        click.echo(f"  {name:<22} CPU ms {np.median(cpu):7.2f}  x{ratio:.2f}   wall x{waited:.2f}")


def _alone(name: str) -> Mapping[str, float]:
    """Load the model in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _ALONE, name], capture_output=True, text=True, check=True)
    found: dict[str, float] = {key: round(value, 2) for key, value in json.loads(done.stdout).items()}
    return found


if __name__ == "__main__":
    main()
