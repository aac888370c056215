"""Settings of the services that embed, and the embedder made of them."""

from dataclasses import dataclass

from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.files import packaged_minilm
from services.common.embedding.precision import Choice, precision_for, processor_flags
from services.common.service import ServiceSettings


@dataclass(frozen=True, kw_only=True)
class EmbeddingSettings(ServiceSettings):
    """What ingest and retrieval read from the environment beside their own."""

    embedding_precision: Choice = Choice.AUTO
    """Arithmetic of the embedding model: `int8` takes 0.6 to 0.8 of the time of `exact` for about half a point less
    of recall at 5 by vectors alone; `auto` is `int8` on processors with AVX2 or VNNI. It may be changed at any time:
    the vectors of both go together."""


def packaged_embedder(settings: EmbeddingSettings, threads: int) -> OnnxEmbedder:
    """Return the embedder of the packaged model in the precision that the settings and the processor give."""
    precision = precision_for(settings.embedding_precision, processor_flags())
    return OnnxEmbedder(packaged_minilm(), precision=precision, threads=threads)
