"""How values of Postgres become values of Python: vectors as float32 arrays, jsonb as what it means."""

import json
import struct
from typing import Any, TypeAlias

import asyncpg
import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]

VECTOR_SCHEMA = "ext"

_VECTOR_KNOWN = "SELECT to_regtype('ext.vector') IS NOT NULL"
_HEADER = struct.Struct(">HH")


def encode_vector(vector: Vector) -> bytes:
    """Return the binary form of a `vector`.

    asyncpg walks into an array inside an array, so parameters of type `vector[]` are lists of this.
    """
    return _HEADER.pack(len(vector), 0) + vector.astype(">f4", copy=False).tobytes()


def decode_vector(data: bytes) -> Vector:
    """Return the vector of a binary form."""
    return np.frombuffer(data, ">f4", offset=_HEADER.size).astype(np.float32)


async def vectors_known(connection: asyncpg.Connection) -> bool:
    """Tell whether the database has the type `ext.vector`, which comes with the bootstrap."""
    return bool(await connection.fetchval(_VECTOR_KNOWN))


async def register_codecs(connection: asyncpg.Connection) -> None:
    """Teach one connection the types; to be done for every connection of a pool (F28)."""
    await connection.set_type_codec(
        "vector", schema=VECTOR_SCHEMA, encoder=_binary, decoder=decode_vector, format="binary"
    )
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=_to_json, decoder=json.loads, format="text")


def _binary(value: bytes | Vector) -> bytes:
    return value if isinstance(value, bytes) else encode_vector(value)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
