"""Measures the vector store of one peer; run by the Python of the peers' own environment, which has nothing of Attest.

The first line of its input is a JSON object with `dsn`, `texts`, `vectors` and `questions`. To `search`, it loads them
and prints `ready`; each further line is the number of a question, answered by the milliseconds that a search for five
took. To `add`, each further line is answered by the milliseconds that it took to add all texts, without an index.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

NEAREST = 5

Search = Callable[[list[float]], int]
Add = Callable[[], object]


def langchain(load: dict[str, Any], *, index: bool) -> tuple[Search, Add]:
    """Make LangChain's PGVectorStore, filled and with an HNSW index when told to; return its search and its filling."""
    from langchain_core.embeddings import Embeddings
    from langchain_postgres import PGEngine, PGVectorStore
    from langchain_postgres.v2.indexes import HNSWIndex

    class Ready(Embeddings):
        """Never called: every vector comes ready."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise NotImplementedError

        def embed_query(self, text: str) -> list[float]:
            raise NotImplementedError

    engine = PGEngine.from_connection_string(load["dsn"].replace("postgresql://", "postgresql+asyncpg://"))
    engine.init_vectorstore_table(table_name="langchain", vector_size=len(load["vectors"][0]))
    store = PGVectorStore.create_sync(engine, embedding_service=Ready(), table_name="langchain")
    if index:
        store.add_embeddings(load["texts"], load["vectors"])
        store.apply_vector_index(HNSWIndex())
    return (
        lambda vector: len(store.similarity_search_with_score_by_vector(vector, k=NEAREST)),
        lambda: store.add_embeddings(load["texts"], load["vectors"]),
    )


def llamaindex(load: dict[str, Any], *, index: bool) -> tuple[Search, Add]:
    """Make LlamaIndex's PGVectorStore, filled and with an HNSW index when told to; return its search and filling."""
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores import VectorStoreQuery
    from llama_index.vector_stores.postgres import PGVectorStore

    place = urlsplit(load["dsn"])
    store = PGVectorStore.from_params(
        host=place.hostname,
        port=str(place.port),
        database=place.path.lstrip("/"),
        user=place.username,
        password=place.password,
        table_name="llamaindex",
        embed_dim=len(load["vectors"][0]),
        hnsw_kwargs={
            "hnsw_m": 16,
            "hnsw_ef_construction": 64,
            "hnsw_ef_search": 40,
            "hnsw_dist_method": "vector_cosine_ops",
        }
        if index
        else None,
    )

    def add() -> object:
        return store.add(
            [TextNode(text=text, embedding=vector) for text, vector in zip(load["texts"], load["vectors"], strict=True)]
        )

    if index:
        add()

    def search(vector: list[float]) -> int:
        return len(store.query(VectorStoreQuery(query_embedding=vector, similarity_top_k=NEAREST)).nodes or ())

    return search, add


def main() -> None:
    """Answer line by line until the input ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer
    load = json.loads(sys.stdin.readline())
    name, does = sys.argv[1:]
    search, add = {"langchain": langchain, "llamaindex": llamaindex}[name](load, index=does == "search")
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        vector = load["questions"][int(line)]
        began = time.perf_counter()
        found = search(vector) if does == "search" else add() and NEAREST
        took = (time.perf_counter() - began) * 1000
        if found != NEAREST:
            raise SystemExit(f"{name} found {found} passages in place of {NEAREST}")
        print(took, file=answers, flush=True)


if __name__ == "__main__":
    main()
