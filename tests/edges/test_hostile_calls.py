"""What hostile callers do to both edges of one server in this process: the rows of an attack."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ErrorData
from pytest_django import Settings

from config.asgi import application
from knowledge.api.asgi import MAX_BODY
from knowledge.ledger import quotas
from knowledge.library import items as library
from knowledge.models import Item
from tests.support.asgi_server import serve_app
from tests.support.library import Add, Mint
from tests.support.mcp_agent import Agent
from tests.support.waiting import DEADLINE, eventually
from tokens import authentication
from tokens.secrets import digest

pytestmark = pytest.mark.django_db(transaction=True)

Address = tuple[str, int]
STATELESS = "2026-07-28"


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    with serve_app(
        application, lifespan="on", http="config.connections:LimitedProtocol"
    ) as address:
        yield address


@pytest.fixture(autouse=True)
def any_host(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]


def ask(
    address: Address, method: str, path: str, secret: str = "", body: Any = None, **headers: str
) -> tuple[int, Any]:
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    with closing(http.client.HTTPConnection(*address, timeout=DEADLINE)) as opened:
        is_chunked = not isinstance(body, (str, bytes, type(None)))
        sent = {"Content-Type": "application/json", **headers}
        opened.request(method, f"/api/v1/{path}", body, sent, encode_chunked=is_chunked)
        answer = opened.getresponse()
        said = answer.read()
        told = json.loads(said) if said else None
        if isinstance(told, dict):
            told["headers"] = dict(answer.headers)
        return answer.status, told


# Slow and silent clients ------------------------------------------------------------------------


def test_without_a_token_no_body_is_read(address: Address, mint: Mint) -> None:
    """Row 2: the answer comes while the body is still on its way, and none of it is kept."""
    head = "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with ExitStack() as opened:
        for extra in ("", "Authorization: Bearer qry_wrong\r\n"):
            caller = opened.enter_context(socket.create_connection(address, timeout=DEADLINE))
            caller.sendall(f"{head}{extra}Content-Length: {MAX_BODY}\r\n\r\n".encode())
            caller.sendall(b"x" * 1000)
            assert caller.recv(4000).startswith(b"HTTP/1.1 401 ")


def test_who_is_not_signed_in_sends_small_forms_alone(address: Address) -> None:
    with closing(http.client.HTTPConnection(*address, timeout=DEADLINE)) as opened:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        opened.request("POST", "/accounts/login/", b"login=" + b"a" * 100_000, form)
        answer = opened.getresponse()
        assert answer.status == 413
        assert "Without signing in" in json.loads(answer.read())["message"]


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_body_in_chunks_is_read_like_any_other(
    address: Address, mint: Mint, add: Add, method: str
) -> None:
    """Row 9."""
    item, secret = add("Consent"), mint().secret
    if method == "PATCH":
        status, _ = ask(
            address, method, f"items/{item.pk}", secret, iter([b'{"title": ', b'"New"}'])
        )
        assert (status, Item.objects.get(pk=item.pk).custom_title) == (200, "New")
    else:
        pieces = iter([b'{"name": ', b'"Chunks"}'])
        status, told = ask(address, method, "folders", secret, pieces)
        assert (status, told["name"]) == (201, "Chunks")


# Strange requests -------------------------------------------------------------------------------


def test_too_many_parameters_are_a_callers_mistake(address: Address, mint: Mint) -> None:
    """Row 16."""
    many = "&".join(f"p{number}=1" for number in range(1_001))
    for path in ("items", "search", "explore", "whoami"):
        status, told = ask(address, "GET", f"{path}?{many}", mint().secret)
        assert (status, told["error"]) == (400, "invalid_body"), path


def test_two_tokens_in_one_request_are_refused_by_both_edges(address: Address, mint: Mint) -> None:
    """Row 16: neither edge may choose one of them."""
    ours, other = mint().secret, mint(name="other").secret
    said = []
    for method, path in (("GET", "/api/v1/whoami"), ("POST", "/mcp")):
        with closing(http.client.HTTPConnection(*address, timeout=DEADLINE)) as opened:
            opened.putrequest(method, path)
            for secret in (ours, other):
                opened.putheader("Authorization", f"Bearer {secret}")
            opened.putheader("Content-Length", "0")
            opened.endheaders()
            answer = opened.getresponse()
            told = json.loads(answer.read())
            said.append((answer.status, told["error"], told["message"]))
    assert said == [(401, "invalid_token", "Send one Authorization header, with one token.")] * 2


def test_whether_it_lives_is_told_without_a_thread_or_a_database(address: Address) -> None:
    with closing(http.client.HTTPConnection(*address, timeout=DEADLINE)) as opened:
        for method in ("GET", "HEAD"):
            opened.request(method, "/livez")
            answer = opened.getresponse()
            body = answer.read()
            assert (answer.status, len(answer.headers["X-Request-ID"])) == (200, 32)
            assert body == (b'{"status": "ok"}' if method == "GET" else b"")
        opened.request("POST", "/livez")
        assert opened.getresponse().status in (200, 403)  # Django's, as before


# Many calls at once -----------------------------------------------------------------------------


class Door:
    """Calls that stay within the domain until they are let go."""

    def __init__(self) -> None:
        self.inside = 0
        self.is_open = threading.Event()

    def guard(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def wait_and_work(*args: object, **kwargs: object) -> Any:
            self.inside += 1
            assert self.is_open.wait(DEADLINE)
            return work(*args, **kwargs)

        return wait_and_work


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    door = Door()
    monkeypatch.setattr(library, "list_recent", door.guard(library.list_recent))
    monkeypatch.setattr(quotas, "usage_of", door.guard(quotas.usage_of))
    yield door
    door.is_open.set()


def error_of_call(agent: Agent) -> ErrorData | None:
    async def call(client: Client) -> ErrorData | None:
        try:
            await client.call_tool("list_recent", {})
        except MCPError as error:
            return error.error
        return None

    return agent.ask(call)


def test_ten_calls_of_one_token_keep_nobody_else_waiting(
    address: Address, mint: Mint, stranger: User, door: Door, settings: Settings
) -> None:
    """Row 6: over MCP, where six threads served everybody, looking up tokens included."""
    host, port = address
    url = f"http://{host}:{port}"
    hostile, honest = (Agent(url, mint(by=by).secret, STATELESS) for by in (None, stranger))
    connection.close()
    with ThreadPoolExecutor(10) as pool:
        calls = [pool.submit(error_of_call, hostile) for _ in range(10)]
        eventually(lambda: door.inside == settings.QUARRY_CALLS_PER_TOKEN)
        assert honest.call("whoami").structured_content["name"] == "agent"
        status, _ = ask(address, "GET", "whoami", mint(by=stranger).secret)
        assert status == 200
        busy = settings.QUARRY_CALLS_PER_TOKEN
        eventually(lambda: sum(call.done() for call in calls) == 10 - busy)
        door.is_open.set()
        errors = [error for call in calls if (error := call.result())]
    assert door.inside == busy
    assert {(error.code, error.data["error"]) for error in errors} == {(-32605, "busy")}
    assert errors[0].data["retry_after_sec"] == 1


def test_over_rest_it_is_429_in_the_same_words(
    address: Address, mint: Mint, settings: Settings, door: Door
) -> None:
    secret = mint().secret
    with ThreadPoolExecutor(10) as pool:
        calls = [pool.submit(ask, address, "GET", "usage", secret) for _ in range(10)]
        most = settings.QUARRY_CALLS_PER_TOKEN
        eventually(lambda: sum(call.done() for call in calls) == 10 - most)
        door.is_open.set()
    refused = [told for status, told in (call.result() for call in calls) if status == 429]
    assert (len(refused), door.inside) == (10 - most, most)
    assert {told["error"] for told in refused} == {"busy"}
    assert refused[0]["message"].startswith(f"There are {most} calls of this token in progress")
    assert {told["headers"]["retry-after"] for told in refused} <= {"1"}


def test_a_token_that_cannot_be_looked_up_is_our_fault_in_the_usual_words(
    address: Address, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(text: str) -> str:
        raise OperationalError("no connection")

    secret = mint().secret
    monkeypatch.setattr(authentication, "digest", fail)
    status, told = ask(address, "GET", "whoami", secret)
    assert (status, told["error"]) == (500, "internal_error")
    assert told["request_id"] == told["headers"]["x-request-id"]


def test_each_call_looks_its_token_up_once(
    address: Address, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def note(text: str) -> str:
        seen.append(text)
        return digest(text)

    monkeypatch.setattr(authentication, "digest", note)
    secret = mint().secret
    body = json.dumps({"name": "Once"})
    assert ask(address, "POST", "folders", secret, body)[0] == 201
    assert seen == [secret]
