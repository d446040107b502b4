"""The gate before the SDK: who may come in, how, and what the rest are told."""

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from time import monotonic
from typing import Any

import anyio
import httpx2
import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from oauth2_provider.models import AccessToken

from knowledge.api.asgi import MAX_BODY
from knowledge.errors import InvalidToken
from mcp_gateway.asgi import McpApp
from mcp_gateway.identity import FRESH_SECONDS, Caller
from tests.support.library import Mint
from tests.support.mcp_agent import Agent
from tests.support.oauth import Connector
from tests.support.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def http(server_url: str) -> Any:
    headers = {"Accept": "application/json, text/event-stream"}
    with httpx2.Client(base_url=server_url, headers=headers) as client:
        yield client


def hello(revision: str) -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def message_in(answer: httpx2.Response) -> Any:
    """The one message of an event stream."""
    (data,) = [line for line in answer.text.splitlines() if line.startswith("data: ")]
    return json.loads(data.removeprefix("data: "))


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_without_a_token_nobody_comes_in(http: httpx2.Client) -> None:
    answer = http.post("/mcp", json=PING)
    assert answer.status_code == 401
    told = answer.headers["www-authenticate"]
    assert told.startswith('Bearer realm="quarry", resource_metadata="http')
    assert told.endswith('/.well-known/oauth-protected-resource/mcp", scope="kb:read kb:write"')
    told = answer.json()
    assert told["error"] == "missing_bearer_token"
    assert "Authorization: Bearer" in told["message"]
    assert told["request_id"] == answer.headers["x-request-id"]


def test_a_bad_token_is_told_from_none(http: httpx2.Client) -> None:
    for header in (b"Bearer nonsense", b"Basic YTpi", b"Bearer", b"Bearer qry_\xe9"):
        answer = http.post("/mcp", json=PING, headers={b"Authorization": header})
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert answer.json()["error"] == "invalid_token"


def test_a_connection_comes_in_and_is_told_which_scope_it_lacks(
    http: httpx2.Client, owner: User
) -> None:
    asked = {"name": "add_to_knowledge", "arguments": {"kind": "text", "text": "No."}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    reader = Connector(owner).connect()
    headers = bearer(reader.tokens["access_token"])
    assert http.post("/mcp", json=hello("2025-11-25"), headers=headers).status_code == 200
    answer = http.post("/mcp", json=call, headers=headers)
    assert answer.status_code == 403
    told = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in told
    assert 'scope="kb:read kb:write"' in told
    writer = Connector(owner).connect(can_write="on")
    answer = http.post("/mcp", json=call, headers=bearer(writer.tokens["access_token"]))
    assert answer.status_code != 403


@pytest.mark.parametrize("audience", [[], ["https://elsewhere.example/mcp"]])
def test_an_access_token_for_another_audience_or_for_none_is_refused(
    http: httpx2.Client, owner: User, audience: list[str]
) -> None:
    secret = Connector(owner).connect().tokens["access_token"]
    AccessToken.objects.update(resource=audience)
    answer = http.post("/mcp", json=PING, headers=bearer(secret))
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_a_token_in_the_address_is_no_token(http: httpx2.Client, owner: User, mint: Mint) -> None:
    for secret in (mint().secret, Connector(owner).connect().tokens["access_token"]):
        answer = http.post("/mcp", json=PING, params={"access_token": secret})
        assert answer.status_code == 401
        assert answer.json()["error"] == "missing_bearer_token"


def test_a_revoked_token_is_refused_with_why(http: httpx2.Client, mint: Mint) -> None:
    minted = mint()
    type(minted.row).objects.filter(pk=minted.row.pk).revoke()
    answer = http.post("/mcp", json=PING, headers=bearer(minted.secret))
    assert answer.status_code == 401
    assert "revoked" in answer.json()["message"]


def test_a_token_revoked_while_its_message_arrives_is_refused(
    http: httpx2.Client, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_gateway.asgi.FRESH_SECONDS", -1)
    minted = mint()
    rows = type(minted.row).objects.filter(pk=minted.row.pk)

    def slow_body() -> Iterator[bytes]:
        yield b" "
        eventually(lambda: rows.get().last_used_at is not None)
        rows.revoke()
        yield json.dumps(PING).encode()

    answer = http.post("/mcp", content=slow_body(), headers=bearer(minted.secret))
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")


def test_a_token_revoked_while_its_call_waits_for_a_place_is_refused(mint: Mint) -> None:
    minted = mint()
    token, secret = minted.row, minted.secret
    early = Caller(secret, edge="mcp", token=token)
    late = Caller(secret, edge="mcp", token=token, looked_up=monotonic() - FRESH_SECONDS)
    type(token).objects.all().revoke()
    assert early.find_token() is token
    with pytest.raises(InvalidToken, match="revoked"):
        late.find_token()


def test_every_revision_with_a_handshake_is_served_at_both_paths(
    http: httpx2.Client, mint: Mint
) -> None:
    token = bearer(mint().secret)
    for path, revision in product(("/mcp", "/mcp/"), HANDSHAKE_PROTOCOL_VERSIONS):
        answer = http.post(path, json=hello(revision), headers=token)
        assert answer.status_code == 200
        result = message_in(answer)["result"]
        assert result["protocolVersion"] == revision
        assert result["serverInfo"]["name"] == "quarry"
        assert "mcp-session-id" not in answer.headers


def test_only_post_is_served(http: httpx2.Client, mint: Mint) -> None:
    token = bearer(mint().secret)
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        answer = http.request(method, "/mcp", headers=token)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert answer.json()["error"] == "method_not_allowed"


def test_there_is_nothing_beside_the_endpoint(http: httpx2.Client) -> None:
    for path in ("/", "/mcpx", "/mcp/x", "/mcp//"):
        answer = http.post(path, json=PING)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_only_allowed_hosts_are_served(http: httpx2.Client, mint: Mint) -> None:
    token = bearer(mint().secret)

    def status(host: str) -> int:
        return http.post("/mcp", json=PING, headers={**token, "Host": host}).status_code

    for host in ("localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:8000"):
        assert status(host) == 200
    for host in ("evil.example", "localhost.evil.example", "evil.example:80@localhost"):
        assert status(host) == 421


def test_pages_of_other_sites_may_not_call(http: httpx2.Client, mint: Mint) -> None:
    token = bearer(mint().secret)

    def status(origin: str) -> int:
        return http.post("/mcp", json=PING, headers={**token, "Origin": origin}).status_code

    assert status("http://localhost:6274") == 200
    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://["):
        assert status(origin) == 403


def test_too_large_a_message_is_refused_with_the_limit(http: httpx2.Client, mint: Mint) -> None:
    body = b" " * (MAX_BODY + 1)
    sized = http.post("/mcp", content=body, headers=bearer(mint().secret))
    chunked = http.post(
        "/mcp",
        content=(body[n : n + 2**20] for n in range(0, len(body), 2**20)),
        headers=bearer(mint().secret),
    )
    for answer in (sized, chunked):
        assert answer.status_code == 413
        assert answer.json()["error"] == "payload_too_large"
        assert answer.json()["max_bytes"] == MAX_BODY
        assert f"{MAX_BODY:,}" in answer.json()["message"]


def test_what_is_no_message_is_refused(http: httpx2.Client, mint: Mint) -> None:
    token = {**bearer(mint().secret), "Content-Type": "application/json"}
    bodies = (b"", b"{", b"[]", b"\xff", b'{"jsonrpc": "2.0"}', b"[" * 15_000, b"1" * 5_000)
    for body, revision in product(bodies, ("2025-11-25", "2026-07-28", "1999-01-01")):
        headers = {**token, "MCP-Protocol-Version": revision}
        answer = http.post("/mcp", content=body, headers=headers)
        assert answer.status_code == 400
        assert "Traceback" not in answer.text


def test_malformed_params_are_explained(http: httpx2.Client, mint: Mint) -> None:
    token = bearer(mint().secret)
    malformed: list[dict[str, Any]] = [{}, {"name": 7}, {"name": "whoami", "arguments": "x"}]
    for params in malformed:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        error = message_in(http.post("/mcp", json=message, headers=token))["error"]
        assert error["code"] == -32602
        assert error["data"]["error"] == "invalid_body"
        assert error["message"].startswith("The params of tools/call are malformed: ")


def test_a_caller_may_name_its_request(http: httpx2.Client, mint: Mint) -> None:
    given = {"X-Request-ID": "trace-0123456789"}
    answer = http.post("/mcp", json=PING, headers={**bearer(mint().secret), **given})
    assert answer.headers["x-request-id"] == "trace-0123456789"
    odd = {"X-Request-ID": "a b"}
    assert http.post("/mcp", json=PING, headers=odd).headers["x-request-id"] != "a b"


def test_a_database_that_is_away_is_no_bad_token(
    http: httpx2.Client, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(secret: str) -> None:
        raise OperationalError("host=10.0.0.1 password=hunter2")

    monkeypatch.setattr("mcp_gateway.asgi.authenticate", fail)
    answer = http.post("/mcp", json=PING, headers=bearer(mint().secret))
    assert (answer.status_code, answer.json()["error"]) == (500, "internal_error")
    assert "hunter2" not in answer.text


def test_an_app_that_does_not_run_says_so() -> None:
    async def ask() -> None:
        await McpApp()({"type": "http", "headers": []}, None, None)  # type: ignore[arg-type]

    with pytest.raises(RuntimeError, match="lifespan"):
        anyio.run(ask)


def test_an_agent_may_use_the_path_with_a_slash(server_url: str, mint: Mint) -> None:
    agent = Agent(server_url, mint().secret, "2026-07-28", path="/mcp/")
    assert "whoami" in agent.tools()


def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    script = (
        "import django, sys; django.setup(); import mcp_gateway.asgi; "
        "sys.exit('mcp' in sys.modules or 'mcp_types' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
