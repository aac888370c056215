"""The REST side of Attest as the command uses it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self
from urllib.parse import quote

import httpx2

from services.cli.hints import command

TIMEOUT_SECONDS = 130.0
"""A little more than the longest deadline of the gateway."""


class ApiError(Exception):
    """The gateway refused or failed; the message is its own."""

    def __init__(self, status: int, code: str, reason: str, message: str, retry_after: float | None = None) -> None:
        """Keep the parts of the one error shape; status 0 stands for no answer at all, `retry_after` is in seconds."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.reason = reason
        self.retry_after = retry_after

    @property
    def unreachable(self) -> bool:
        """Tell whether nobody listened at all."""
        return self.reason == "GATEWAY_UNREACHABLE"

    @property
    def passes(self) -> bool:
        """Tell whether the same call may go well a little later."""
        return self.status in (0, 429, 503) or self.code in ("ABORTED", "UNAVAILABLE", "DEADLINE_EXCEEDED")


class Api:
    """Calls the gateway and waits for the whole answer; each method raises ApiError."""

    def __init__(self, client: httpx2.Client) -> None:
        """Take a client whose base URL is the gateway's."""
        self._client = client

    @classmethod
    @contextmanager
    def at(cls, url: str) -> Iterator[Self]:
        """Open a connection to the gateway at `url`."""
        # A proxy of the shell is not meant for the stack on this machine.
        with httpx2.Client(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            yield cls(client)

    def answer(self, question: str, **options: Any) -> dict[str, Any]:
        """Ask a question."""
        return self._call("POST", "/api/answer", json={"question": question, **options})

    def search(self, query: str, **options: Any) -> dict[str, Any]:
        """Find passages."""
        return self._call("POST", "/api/search", json={"query": query, **options})

    def documents(
        self, lane: str | None = None, page_size: int = 1000, source_url_prefix: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield the documents of a lane or of all, newest first, page by page; by what their address begins with."""
        token = ""
        while True:
            asked = {
                "lane": lane,
                "page_size": page_size,
                "page_token": token,
                "source_url_prefix": source_url_prefix,
            }
            page = self._call("GET", "/api/documents", params={key: value for key, value in asked.items() if value})
            yield from page.get("documents", [])
            token = page.get("next_page_token", "")
            if not token:
                return

    def lanes(self) -> Iterator[dict[str, Any]]:
        """Yield the lanes by name, page by page."""
        token = ""
        while True:
            page = self._call("GET", "/api/lanes", params={"page_token": token} if token else {})
            yield from page.get("lanes", [])
            token = page.get("next_page_token", "")
            if not token:
                return

    def document(self, document_id: str) -> dict[str, Any]:
        """Return one document."""
        return dict(self._of_document("GET", document_id)["document"])

    def delete(self, document_id: str) -> dict[str, Any]:
        """Delete a document and return the receipt."""
        return self._of_document("DELETE", document_id)

    def _of_document(self, method: str, document_id: str) -> dict[str, Any]:
        return self._call(method, f"/api/documents/{quote(document_id, safe='')}")

    def _call(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        with named_failures(str(self._client.base_url)):
            response = self._client.request(method, path, **content)
        return result(response)


@contextmanager
def named_failures(url: str) -> Iterator[None]:
    """Turn what the HTTP library raises into ApiError with status 0, and text that UTF-8 cannot hold into 400."""
    try:
        yield
    except UnicodeEncodeError as error:
        message = "The text holds bytes that are not UTF-8; take them out."
        raise ApiError(400, "INVALID_ARGUMENT", "TEXT_MALFORMED", message) from error
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        message = f"No answer from {url}; is the stack up? ({command('up')})"
        raise ApiError(0, "UNAVAILABLE", "GATEWAY_UNREACHABLE", message) from error
    except httpx2.TimeoutException as error:
        message = f"No answer from {url} within {TIMEOUT_SECONDS:.0f} s; try again."
        raise ApiError(0, "DEADLINE_EXCEEDED", "CLIENT_TIMEOUT", message) from error
    except httpx2.HTTPError as error:
        message = f"The connection to {url} broke; try again. ({command('status')})"
        raise ApiError(0, "UNAVAILABLE", "CONNECTION_BROKEN", message) from error


def result(response: httpx2.Response) -> dict[str, Any]:
    """Return the body of a good response that was read whole; raise ApiError for any other."""
    if not response.is_success:
        raise _error(response)
    try:
        return dict(response.json())
    except ValueError as error:
        message = f"What listens on {response.url.host}:{response.url.port} is not Attest; check ATTEST_HTTP_PORT."
        raise ApiError(response.status_code, "UNKNOWN", "NOT_ATTEST", message) from error


def _error(response: httpx2.Response) -> ApiError:
    retry_after = _seconds(response.headers.get("retry-after", ""))
    try:
        body = response.json()
        return ApiError(response.status_code, body["code"], body["reason"], body["error"], retry_after)
    except (ValueError, KeyError, TypeError):
        message = f"The gateway answered {response.status_code}; {command('logs gateway')} may say why."
        return ApiError(response.status_code, "UNKNOWN", "UNKNOWN", message, retry_after)


def _seconds(header: str) -> float | None:
    return float(header) if header.isascii() and header.isdigit() else None


Progress = Callable[[int, int], None]
"""Is told how many chunks of a file are embedded by now, and of how many."""
