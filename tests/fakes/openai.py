"""An OpenAI embeddings endpoint on a free port: real HTTP, vectors of words, the three limits, and faults on demand."""

import base64
import json
import ssl
import sys
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from services.common.embedding.cl100k import encoding

MOST_TOKENS, MOST_INPUTS, MOST_REQUEST_TOKENS = 8_192, 2_048, 300_000
KEY = "sk-fake-key-0123456789"
MODEL = "text-embedding-3-small"

Fault: TypeAlias = Callable[["Call"], None]
"""Answers one request in the fake's place."""


class FakeOpenAi:
    """What was asked, and what is to go wrong; faults are used up one a request."""

    def __init__(self, dimensions: int, key: str | None) -> None:
        self.dimensions = dimensions
        self.key = key
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.faults: deque[Fault] = deque()
        self.released = threading.Event()
        """Set when whoever is held may go on."""
        self.url = ""
        self.ignores_encoding = False
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()

    @property
    def texts(self) -> list[str]:
        """All texts that were asked for, the one of the start included."""
        return [text for body in self.bodies for text in body["input"]]

    def forget(self) -> None:
        """Forget what was asked so far."""
        self.bodies.clear()
        self.headers.clear()
        self.most_at_once = 0


class Call(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    fake: FakeOpenAi
    body: dict[str, Any]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the library
        """Say nothing."""

    def do_POST(self) -> None:
        fake = self.fake
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with fake.lock:
            fake.bodies.append(self.body)
            fake.headers.append({name.lower(): value for name, value in self.headers.items()})
            fault = fake.faults.popleft() if fake.faults else None
            fake.at_once += 1
            fake.most_at_once = max(fake.most_at_once, fake.at_once)
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                (fault or answered)(self)
        finally:
            with fake.lock:
                fake.at_once -= 1

    def refuse(self, status: int, code: str | None, kind: str = "invalid_request_error", **headers: str) -> None:
        """Answer with an error as OpenAI writes it: its message quotes the key and the first text."""
        message = f"refused: {self.headers['authorization']} {self.body['input'][:1]}"
        error = {"message": message, "type": kind, "param": None, "code": code}
        self.send(status, json.dumps({"error": error}).encode(), **headers)

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def reply(self) -> dict[str, Any]:
        """Make the right reply, its rows last first: only `index` tells which is whose."""
        texts = self.body["input"]
        rows = [
            {"object": "embedding", "index": index, "embedding": self._written(vector_of(text, self.length))}
            for index, text in enumerate(texts)
        ]
        tokens = sum(map(tokens_of, texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": self.body["model"], "data": rows[::-1], "usage": usage}

    @property
    def length(self) -> int:
        return int(self.body.get("dimensions", self.fake.dimensions))

    def _written(self, vector: np.ndarray) -> str | list[float]:
        if self.body["encoding_format"] == "base64" and not self.fake.ignores_encoding:
            return base64.b64encode(vector.astype("<f4").tobytes()).decode()
        return [float(value) for value in vector]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hung up."""
        if not isinstance(sys.exception(), ConnectionError | ssl.SSLError):
            super().handle_error(request, client_address)


def tokens_of(text: str) -> int:
    return len(encoding().encode_ordinary(text))


def vector_of(text: str, dimensions: int) -> np.ndarray:
    """Return a vector that is near those of texts with the same words."""
    vector = np.zeros(dimensions, dtype=np.float32)
    for word in text.lower().split():
        vector[zlib.crc32(word.strip(".,?!").encode()) % dimensions] += 1
    return vector / np.float32(np.linalg.norm(vector))


def answered(call: Call) -> None:
    """Answer as OpenAI does: refuse a wrong key, an unknown model, a blank text and what is over a limit."""
    fake, texts = call.fake, call.body["input"]
    tokens = [tokens_of(text) for text in texts]
    if fake.key is not None and call.headers["authorization"] != f"Bearer {fake.key}":
        call.refuse(401, "invalid_api_key")
    elif call.path != "/v1/embeddings" or not call.body["model"].startswith("text-embedding-3-small"):
        call.refuse(404, "model_not_found")
    elif max(tokens) > MOST_TOKENS:
        call.refuse(400, "context_length_exceeded")
    elif len(texts) > MOST_INPUTS or not all(text.strip() for text in texts):
        call.refuse(400, None)
    elif sum(tokens) > MOST_REQUEST_TOKENS:
        call.refuse(400, "max_tokens_per_request", "max_tokens_per_request")
    else:
        call.send(200, json.dumps(call.reply()).encode())


def refusing(status: int, code: str | None = None, kind: str = "invalid_request_error", **headers: str) -> Fault:
    return lambda call: call.refuse(status, code, kind, **headers)


def changed(change: Callable[[list[dict[str, Any]]], object]) -> Fault:
    """Answer after `change` was done to the rows."""

    def fault(call: Call) -> None:
        reply = call.reply()
        reply["data"].sort(key=lambda row: row["index"])
        change(reply["data"])
        call.send(200, json.dumps(reply).encode())

    return fault


def raw(content: bytes, status: int = 200, **headers: str) -> Fault:
    return lambda call: call.send(status, content, **headers)


def cut_off(call: Call) -> None:
    """Promise the whole reply, send half of it and hang up."""
    content = json.dumps(call.reply()).encode()
    call.send_response(200)
    call.send_header("content-length", str(len(content)))
    call.end_headers()
    call.wfile.write(content[: len(content) // 2])
    call.close_connection = True


def half_of_the_json(call: Call) -> None:
    """Send a reply that is whole for HTTP and broken off for JSON."""
    content = json.dumps(call.reply()).encode()
    call.send(200, content[: len(content) // 2])


def held(call: Call) -> None:
    """Answer only when the fake is told to go on."""
    call.fake.released.wait(30)
    answered(call)


def dripping(call: Call) -> None:
    """Send the reply a byte at a time, each before a timeout between bytes would end it."""
    content = json.dumps(call.reply()).encode()
    call.send_response(200)
    call.send_header("content-length", str(len(content)))
    call.end_headers()
    for byte in content:
        call.wfile.write(bytes([byte]))
        call.wfile.flush()
        if call.fake.released.wait(0.05):
            return


def hung_up(call: Call) -> None:
    """Close the connection without a word."""
    call.close_connection = True


@contextmanager
def fake_openai(dimensions: int = 1536, key: str | None = KEY, certificate: Path | None = None) -> Iterator[FakeOpenAi]:
    """Serve until the block ends, over TLS where there is a certificate with its key in one file.

    The first request of a test is the one that an embedder makes at its start.
    """
    fake = FakeOpenAi(dimensions, key)
    server = _Server(("127.0.0.1", 0), type("FakeCall", (Call,), {"fake": fake}))
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    fake.url = f"http{'' if certificate is None else 's'}://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        fake.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
