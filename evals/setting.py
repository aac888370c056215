"""Puts thresholds where the product reads them: in the space of a running stack, in what new spaces begin with."""

import json
from pathlib import Path

import grpc

from attest.ingest.v1 import ingest_service_pb2 as pb
from attest.ingest.v1.ingest_service_pb2_grpc import IngestServiceStub
from evals.threshold import Thresholds
from services.common.rpc.client import channel

SHIPPED = Path("services/common/embedding/thresholds.json")
"""What new spaces begin with, by model."""
CALL_SECONDS = 10.0


class SettingError(Exception):
    """The thresholds could not be set; the message says what to do."""


def save(found: Thresholds, file: Path = SHIPPED) -> None:
    """Write the thresholds as those that a new space of their model begins with; raise SettingError."""
    values = {"min_similarity": found.chunk_filter, "gate_start": found.gate_start}
    known = json.loads(file.read_text(encoding="utf-8")) | {found.model: values}
    lines = (f"  {json.dumps(model)}: {json.dumps(known[model])}" for model in sorted(known))
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


async def set_in_space(found: Thresholds, target: str) -> str:
    """Write the thresholds to the searched space of the ingest service at `target`, and return its id.

    Raises SettingError when it cannot be reached, searches vectors of another model, or refuses.
    """
    try:
        async with channel(f"dns:///{target}") as opened:
            return await _set(IngestServiceStub(opened), found)
    except grpc.aio.AioRpcError as error:
        raise SettingError(f"{target} answered {error.code().name}: {error.details()}") from None


async def _set(stub: IngestServiceStub, found: Thresholds) -> str:
    listed = await stub.ListEmbeddingSpaces(pb.ListEmbeddingSpacesRequest(page_size=1000), timeout=CALL_SECONDS)
    active = next((space for space in listed.spaces if space.state == pb.EmbeddingSpace.ACTIVE), None)
    if active is None or active.model != found.model:
        searched = f"vectors of {active.model}" if active else "nothing"
        raise SettingError(
            f"These are thresholds of {found.model}, and the stack searches {searched}; measure it anew."
        )
    request = pb.SetThresholdsRequest(
        space_id=active.space_id, min_similarity=found.chunk_filter, gate_start=found.gate_start
    )
    await stub.SetThresholds(request, timeout=CALL_SECONDS)
    return str(active.space_id)
