"""Thresholds go to where the product reads them: the file of new spaces, and the space of a running service."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from attest.ingest.v1 import ingest_service_pb2_grpc
from evals.setting import SettingError, save, set_in_space
from evals.threshold import Thresholds, thresholds
from services.common.embedding.thresholds import FILE, thresholds_of
from services.ingest.servicer import IngestServicer
from services.ingest.spaces import Spaces
from tests.fakes.library import FakeSpaceStore, Library
from tests.unit.evals.test_threshold import facts, rows

NOT_CALLED: Any = None


@pytest.fixture
def found() -> Thresholds:
    made = thresholds([facts()], rows())  # type: ignore[arg-type]  # rows of `asked`
    assert made is not None
    return made


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture
async def target(library: Library) -> AsyncIterator[str]:
    """Serve the spaces of a library, every caller allowed."""
    server = grpc.aio.server()
    servicer = IngestServicer(NOT_CALLED, NOT_CALLED, NOT_CALLED, Spaces(FakeSpaceStore(library)))
    ingest_service_pb2_grpc.add_IngestServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(0)


def test_new_spaces_begin_with_what_was_saved_and_other_models_keep_theirs(found: Thresholds, tmp_path: Path) -> None:
    file = tmp_path / "thresholds.json"
    file.write_text('{"another": {"min_similarity": 0.1, "gate_start": 0.2}}')

    save(found, file)

    assert thresholds_of("m", file).min_similarity == found.chunk_filter
    assert thresholds_of("m", file).gate_start == found.gate_start
    assert thresholds_of("another", file).gate_start == 0.2


def test_what_is_saved_looks_as_the_file_that_is_kept(found: Thresholds, tmp_path: Path) -> None:
    file = tmp_path / "thresholds.json"
    file.write_text("{}")
    known: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))

    for model, values in known.items():
        save(replace(found, model=model, chunk_filter=values["min_similarity"], gate_start=values["gate_start"]), file)

    assert file.read_text() == FILE.read_text()


async def test_the_searched_space_of_a_running_service_is_set(found: Thresholds, library: Library, target: str) -> None:
    library.activate("m", 3)

    assert await set_in_space(found, target) == "1"

    space = library.active_space()
    assert (space.min_similarity, space.gate_start) == (found.chunk_filter, found.gate_start)


async def test_a_space_of_another_model_is_left_alone(found: Thresholds, library: Library, target: str) -> None:
    library.activate("m", 3)
    library.activate("another", 3)
    before = list(library.spaces)

    with pytest.raises(SettingError, match="the stack searches vectors of another"):
        await set_in_space(found, target)

    assert library.spaces == before


async def test_a_service_that_is_not_there_is_said(found: Thresholds, unused_tcp_port: int) -> None:
    with pytest.raises(SettingError, match=r"UNAVAILABLE|DEADLINE_EXCEEDED"):
        await set_in_space(found, f"127.0.0.1:{unused_tcp_port}")
