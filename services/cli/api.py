"""The REST side of Attest as the command uses it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx2

_TIMEOUT_SECONDS = 130.0


class ApiError(Exception):
    """The gateway refused or failed; the message is its own."""

    def __init__(self, status: int, code: str, reason: str, message: str) -> None:
        """Keep the parts of the one error shape; status 0 stands for no answer at all."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.reason = reason


class Api:
    """Calls the gateway."""

    def __init__(self, client: httpx2.Client) -> None:
        """Take a client whose base URL is the gateway's."""
        self._client = client

    @classmethod
    @contextmanager
    def at(cls, url: str) -> Iterator[Self]:
        """Open a connection to the gateway at `url`."""
        # A proxy of the shell is not meant for the stack on this machine.
        with httpx2.Client(base_url=url, timeout=_TIMEOUT_SECONDS, trust_env=False) as client:
            yield cls(client)

    def answer(self, question: str, **options: Any) -> dict[str, Any]:
        """Ask a question; raise ApiError."""
        return self._post("/api/answer", {"question": question, **options})

    def ingest(self, source_url: str, content: str, **options: Any) -> dict[str, Any]:
        """Ingest a document; raise ApiError."""
        return self._post("/api/documents", {"source_url": source_url, "content": content, **options})

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            response = self._client.post(path, json=body)
        except httpx2.HTTPError as error:
            message = f"No answer from {self._client.base_url}; is the stack up? (attest up)"
            raise ApiError(0, "UNAVAILABLE", "GATEWAY_UNREACHABLE", message) from error
        if response.is_success:
            return dict(response.json())
        raise _error(response)


def _error(response: httpx2.Response) -> ApiError:
    try:
        body = response.json()
        return ApiError(response.status_code, body["code"], body["reason"], body["error"])
    except (ValueError, KeyError, TypeError):
        return ApiError(response.status_code, "UNKNOWN", "UNKNOWN", f"The gateway answered {response.status_code}.")
