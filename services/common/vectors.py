"""What an embedding model gives for a text."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""One row of float32, as long as the model's dimensions."""


@dataclass(frozen=True, slots=True)
class EmbeddedVector:
    """The vector of a text and, where the model gives them, the packed vectors of its sentences."""

    vector: Vector
    sentence_vectors: bytes | None
