"""The openai client for embeddings, held to the settings of Attest alone.

It is imported where a hosted model was chosen and nowhere else: the library takes a second or more to load.
"""

import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import httpx2
import openai

from services.common.embedding.openai_failures import AttemptError, refused, unanswered, unreadable, untrusted, unusable
from services.common.embedding.openai_model import Endpoint, HostedModel

_BYTES_PER_NUMBER = 32
_MOST_DIMENSIONS = 4_096
_KEPT_SECONDS = 60.0
"""Time that an idle connection is kept: a new one costs a question three trips."""
_LONGEST_PAUSE = 600.0
"""Seconds; what an endpoint asks for beyond it is as good as never."""


class EmbeddingsClient:
    """Connections to one endpoint until `close`; `create` is one attempt, nothing is tried again here."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Open nothing yet. No proxy is taken from the environment and no redirect is followed.

        Certificates are trusted as the system does, or as the file of `SSL_CERT_FILE` says.
        """
        waits = endpoint.timeouts
        most = 2 * endpoint.connections
        key = endpoint.api_key.reveal() if endpoint.api_key else ""
        self._headers: dict[str, Any] = {} if key else {"Authorization": openai.Omit()}
        timeout = httpx2.Timeout(connect=waits.connect, read=waits.read, write=waits.write, pool=waits.pool)
        self._client = openai.AsyncOpenAI(
            api_key=key or "unsent",
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=httpx2.AsyncClient(
                limits=httpx2.Limits(
                    max_connections=most, max_keepalive_connections=most, keepalive_expiry=_KEPT_SECONDS
                ),
                timeout=timeout,
                verify=ssl.create_default_context(),
                trust_env=False,
                follow_redirects=False,
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def create(self, model: HostedModel, texts: Sequence[str]) -> bytes:
        """Return the reply to one request for the vectors of `texts`; raise AttemptError."""
        try:
            return await self._create(model, texts)
        except openai.APIStatusError as error:
            raise _failure(error) from None
        except openai.APIConnectionError as error:
            raise (untrusted() if _is_about_certificate(error) else unanswered()) from None
        except httpx2.TimeoutException:
            raise unanswered() from None
        except (openai.APIError, httpx2.HTTPError):
            raise unreadable() from None

    async def _create(self, model: HostedModel, texts: Sequence[str]) -> bytes:
        dimensions = openai.omit if model.asked_dimensions is None else model.asked_dimensions
        most = len(texts) * _MOST_DIMENSIONS * _BYTES_PER_NUMBER
        content = bytearray()
        async with self._client.embeddings.with_streaming_response.create(
            model=model.name,
            input=list(texts),
            encoding_format=model.encoding.value,
            dimensions=dimensions,
            extra_headers=self._headers,
        ) as response:
            async for part in response.iter_bytes():
                content += part
                if len(content) > most:
                    raise unusable("it is far longer than the vectors that were asked for")
        return bytes(content)


def _is_about_certificate(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None


def _failure(error: openai.APIStatusError) -> AttemptError:
    codes = frozenset(code for code in (error.code, error.type) if isinstance(code, str))
    return refused(error.status_code, codes, _pause(error.response.headers))


def _pause(headers: httpx2.Headers) -> float | None:
    """Return the seconds that the endpoint asks to wait for; None where it does not, or in a form of dates."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            seconds = float(headers[name]) * unit
            if seconds >= 0:
                return min(seconds, _LONGEST_PAUSE)
    return None
