"""`manage.py mcp_server` as clients and people start it: a process of its own."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from anyio import to_thread
from django.db import connection
from mcp import Client, StdioServerParameters

from tests.support.library import Mint
from tests.support.mcp_agent import DEADLINE, ERAS, Agent, error_of
from tokens.models import Event, Token

pytestmark = pytest.mark.django_db(transaction=True)

REPOSITORY = Path(__file__).resolve().parents[2]
COMMAND = [str(REPOSITORY / "manage.py"), "mcp_server"]
TEXT = "Decisions: ship the API docs. The folder rename is deferred to June."


def environment(token: str) -> dict[str, str]:
    """The test's own database, reached as a server elsewhere would be."""
    database = connection.settings_dict
    host, user = quote(database["HOST"], safe=""), quote(database["USER"])
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"postgresql:///{database['NAME']}?host={host}&user={user}",
        "QUARRY_TOKEN": token,
    }


def revoke(token: Token) -> None:
    Token.objects.filter(pk=token.pk).revoke()
    connection.close()


def test_a_client_over_stdio_adds_finds_and_loses_its_token(mint: Mint, era: str) -> None:
    minted = mint()
    server = StdioServerParameters(
        command=sys.executable,
        args=[*COMMAND, "--transport", "stdio"],
        env=environment(minted.secret),
        cwd=REPOSITORY,
    )

    async def use() -> None:
        async with Client(server, mode=ERAS[era]) as client:
            assert client.protocol_version == era
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[0] == "search_knowledge_base"
            asked = {"kind": "text", "title": "Standup", "text": TEXT}
            await client.call_tool("add_to_knowledge", asked)
            found = await client.call_tool("search_knowledge_base", {"query": "folder rename"})
            assert found.structured_content["results"][0]["title"] == "Standup"
            wrong = await error_of(client.call_tool("search_knowledge_base", {"query": ""}))
            assert wrong.code == -32602
            await to_thread.run_sync(revoke, minted.row)
            dead = await error_of(client.call_tool("list_recent"))
            assert dead.data == {"error": "invalid_token", "http_status": 401}
            await error_of(client.list_tools())

    anyio.run(use)
    events = Event.objects.filter(token=minted.row).order_by("at")
    assert [(event.edge, event.action, event.outcome) for event in events] == [
        ("stdio", "add", "ok"),
        ("stdio", "search", "ok"),
        ("stdio", "search", "invalid_body"),
    ]


def test_stdout_carries_the_protocol_and_nothing_else(mint: Mint) -> None:
    hello = {
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_recent"}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 7}},
    ]
    with subprocess.Popen(
        [sys.executable, *COMMAND],
        env={**environment(mint().secret), "QUARRY_LOG_LEVEL": "DEBUG"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        answers = {}
        for message in messages:
            print(json.dumps(message), file=server.stdin, flush=True)
            if "id" in message:
                answer = json.loads(server.stdout.readline())
                answers[answer["id"]] = answer
        out, err = server.communicate(timeout=DEADLINE)
    assert answers[1]["result"]["protocolVersion"] == "2024-11-05"
    assert "Nothing here yet" in answers[2]["result"]["content"][0]["text"]
    assert answers[3]["error"]["data"]["error"] == "invalid_body"
    assert (server.returncode, out) == (0, "")
    assert "DEBUG" in err


@pytest.mark.parametrize(
    ("token", "told"),
    [("", "Set QUARRY_TOKEN"), ("qry_nonsense", "QUARRY_TOKEN is refused. This is not a Quarry")],
)
def test_without_a_good_token_it_says_so_and_ends(owner: object, token: str, told: str) -> None:
    ended = subprocess.run(
        [sys.executable, *COMMAND],
        env=environment(token),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


def test_it_serves_http_alone_and_stops_with_every_call_on_record(mint: Mint) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, *COMMAND, "--transport", "http", "--port", str(port)],
        env=environment(""),
        stderr=subprocess.PIPE,
    ) as server:
        try:
            wait_until_listening(server, port)
            agent = Agent(f"http://127.0.0.1:{port}", mint().secret, "2026-07-28")
            assert agent.call("list_recent").structured_content["items"] == []
        finally:
            server.terminate()
            server.communicate(timeout=DEADLINE)
    assert server.returncode == 0
    assert [event.action for event in Event.objects.all()] == ["list_recent"]


def wait_until_listening(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        assert server.poll() is None, "The server ended."
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("The server did not listen in time.")
