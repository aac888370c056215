from typing import Any

import pytest

ROUTES = [
    ("/api/answer", {"question": "May I?"}, "Answer"),
    ("/api/search", {"query": "leave"}, "Search"),
    ("/api/documents", {"source_url": "a.md", "content": "text"}, "IngestDocument"),
]


@pytest.mark.parametrize(("path", "body", "method"), ROUTES)
async def test_a_rest_call_reaches_its_service(
    gateway: Any, script: Any, path: str, body: dict[str, str], method: str
) -> None:
    response = await gateway.post(path, body)

    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    (call,) = script.calls
    assert call.method == method
    assert all(getattr(call.request, name) == value for name, value in body.items())


async def test_a_reply_keeps_proto_names_and_prints_defaults(gateway: Any) -> None:
    """F65: false, 0 and empty lists are there to be read."""
    reply = (await gateway.post("/api/answer", {"question": "May I?"})).json()

    assert reply == {"outcome": "ANSWERED", "answer": "Yes. [1]", "sources": [], "sentences": []}
