"""Plain requests answer what the SDK would answer, in every revision of the handshake."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from django.conf import settings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from mcp_gateway import plain_requests
from mcp_gateway.asgi import McpApp
from mcp_gateway.plain_requests import read_plain
from tests.support.library import Add, Mint
from tests.support.rollback import each_case

PLAIN = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "host": settings.ALLOWED_HOSTS[0],
}


def ask(secret: str, message: Any, **headers: str) -> tuple[int, str, Any]:
    """The status, the media type and the message that one request is answered."""

    async def post() -> httpx2.Response:
        app = McpApp()
        transport = httpx2.ASGITransport(app=app)
        async with (
            app.lifespan(),
            httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            given = {**PLAIN, "authorization": f"Bearer {secret}", **headers}
            return await client.post("/mcp", json=message, headers=given)

    answer = asyncio.run(post())
    *_, data = answer.text.strip().split("data: ")
    return answer.status_code, answer.headers["content-type"], json.loads(data)


def call(name: str, **arguments: Any) -> Any:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.mark.django_db(transaction=True)
def test_they_are_answered_as_by_the_sdk(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, secret = add("Consent"), mint().secret
    noted: list[object] = []

    def note(*given: Any) -> Any:
        noted.append(read_plain(*given))
        return noted[-1]

    def leave(*given: Any) -> None: ...

    asked = [
        {"method": "ping"},
        {"method": "tools/list", "params": {}},
        call("get_item", item_id=str(item.pk)),
        call("list_folders"),
        call("get_item", item_id=str(uuid4())),
        call("get_item", item="x"),
        call("no such tool"),
    ]
    for version in HANDSHAKE_PROTOCOL_VERSIONS:
        for number, each in enumerate(asked):
            message = {"jsonrpc": "2.0", "id": f"n{number}", **each}
            answers = []
            for is_plain in (True, False):
                with monkeypatch.context() as patch:
                    patch.setattr(plain_requests, "read_plain", note if is_plain else leave)
                    answers.append(ask(secret, message, **{"mcp-protocol-version": version}))
            assert answers[0] == answers[1], (version, each)
    assert len(noted) == len(HANDSHAKE_PROTOCOL_VERSIONS) * len(asked)
    assert None not in noted


@each_case(
    "change, headers",
    [
        ({"method": "initialize"}, {}),
        ({"id": None}, {}),
        ({"id": True}, {}),
        ({"params": {"_meta": {"progressToken": 1}}}, {}),
        ({"params": {"cursor": "x"}}, {}),
        ({"jsonrpc": "1.0"}, {}),
        ({"method": "tools/call", "params": {"name": 7}}, {}),
        ({"method": "tools/call", "params": {"name": "whoami", "arguments": None}}, {}),
        ({"more": 1}, {}),
        ({}, {"mcp-protocol-version": "2026-07-28"}),
        ({}, {"accept": "application/json"}),
        ({}, {"content-type": "text/plain"}),
    ],
)
def test_what_is_not_plain_is_left_to_the_sdk(
    db: None, change: dict[str, Any], headers: dict[str, str]
) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", **change}
    assert read_plain({**PLAIN, **headers}, json.dumps(message).encode()) is None
    whole = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert read_plain(PLAIN, json.dumps(whole).encode()) is not None
