"""A scripted gateway in a thread: it answers what the test lined up and remembers what it was asked."""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """Return the body as the JSON object that it is."""
        return dict(json.loads(self.body))


@dataclass
class ScriptedGateway:
    """Answers to come, by method and path without the query; the last one is repeated."""

    url: str
    answers: dict[str, deque[tuple[int, bytes, dict[str, str]]]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    @property
    def port(self) -> str:
        """Return the port as the environment holds it."""
        return str(urlsplit(self.url).port)

    def will(self, call: str, status: int, body: Any, **headers: str) -> None:
        """Line up an answer. Example of `call`: `GET /api/documents`; bytes are sent as they are."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.setdefault(call, deque()).append((status, content, named))

    def refuse(self, call: str, status: int, code: str, reason: str, **headers: str) -> None:
        """Line up an error of the one shape."""
        self.will(call, status, {"error": f"Refused: {reason}.", "code": code, "reason": reason}, **headers)

    def calls(self, path: str) -> list[Asked]:
        """Return what was asked of a path."""
        return [asked for asked in self.asked if asked.path == path]

    def answer(self, asked: Asked) -> tuple[int, bytes, dict[str, str]]:
        """Return the next answer lined up."""
        self.asked.append(asked)
        lined_up = self.answers.get(f"{asked.method} {asked.path}")
        if not lined_up:
            return 200, b"{}", {}
        return lined_up.popleft() if len(lined_up) > 1 else lined_up[0]


@contextmanager
def scripted_gateway() -> Iterator[ScriptedGateway]:
    """Run a gateway on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.scripted = ScriptedGateway(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]  # for the handler
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.scripted  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        split = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        params = dict(parse_qsl(split.query))
        asked = Asked(self.command, split.path, params, {k.lower(): v for k, v in self.headers.items()}, body)
        status, content, headers = self.server.scripted.answer(asked)  # type: ignore[attr-defined]
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815  # the names are the library's
