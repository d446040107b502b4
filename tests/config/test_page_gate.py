"""Pages are made a few at a time, nobody takes all of the places, and who gets none is told so."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import User
from django.test import AsyncClient

from config import page_gate
from config.page_gate import PageGate
from knowledge.api.asgi import PERSON

pytestmark = pytest.mark.anyio

A_FLOOD = 20
ADDRESS, OTHER_ADDRESS = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class SlowPage:
    """A page that is being made until it is let go."""

    def __init__(self) -> None:
        self.made_for: Counter[str] = Counter()
        self.people: dict[str, int] = {}
        self.is_done = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.made_for[scope["client"][0]] += 1
        if person := self.people.get(scope["headers"][0][1].decode()):
            scope[PERSON] = person
        await self.is_done.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


class Visitors:
    """Whoever asks for pages, and what they are answered."""

    def __init__(self) -> None:
        self.page = SlowPage()
        self.gate = PageGate(self.page)
        self.heads: list[Any] = []
        self.bodies: list[bytes] = []

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.heads.append(message)
        else:
            self.bodies.append(message["body"])

    def ask(
        self, address: str, session: str = "", *, method: str = "GET", **headers: str
    ) -> "asyncio.Task[None]":
        cookie = f"{settings.SESSION_COOKIE_NAME}={session}"
        scope = {
            "type": "http",
            "method": method,
            "path": "/",
            "query_string": b"",
            "client": (address, 1),
            "headers": [
                (name.replace("_", "-").encode(), value.encode())
                for name, value in {"cookie": cookie, **headers}.items()
            ],
        }
        return asyncio.create_task(self.gate(scope, stay, self.send))

    async def flood(self, address: str = ADDRESS) -> "list[asyncio.Task[None]]":
        flood = [self.ask(address, f"s{number % 3}") for number in range(A_FLOOD)]
        await asyncio.sleep(0)
        return flood


async def stay() -> Any:
    await asyncio.Event().wait()


async def test_one_address_leaves_a_place_for_pages_of_others() -> None:
    visitors = Visitors()
    flood = [*await visitors.flood(), visitors.ask(OTHER_ADDRESS)]
    await asyncio.sleep(0)
    assert visitors.page.made_for == {ADDRESS: settings.THREADS["pages"] - 1, OTHER_ADDRESS: 1}
    visitors.page.is_done.set()
    await asyncio.gather(*flood)
    assert Counter(head["status"] for head in visitors.heads) == {200: A_FLOOD + 1}


async def test_one_person_has_the_places_of_one_at_however_many_addresses() -> None:
    visitors = Visitors()
    page, most = visitors.page, settings.THREADS["pages"] - 1
    cookie = f"{settings.SESSION_COOKIE_NAME}="
    page.people = {f"{cookie}s{number}": 7 for number in range(A_FLOOD)}
    page.is_done.set()
    for number in range(A_FLOOD):  # by which their sessions are known
        await visitors.ask(f"192.0.2.{number}", f"s{number}")
    page.is_done.clear()
    page.made_for.clear()
    theirs = [visitors.ask(f"192.0.2.{number}", f"s{number}") for number in range(A_FLOOD)]
    await asyncio.sleep(0)
    assert page.made_for.total() == most
    other = visitors.ask("198.51.100.1", "another's")
    await asyncio.sleep(0)
    assert page.made_for.total() == most + 1
    page.is_done.set()
    await asyncio.gather(*theirs, other)


@pytest.mark.parametrize(
    ("method", "headers", "told"),
    [
        ("GET", {"accept": "text/html"}, ["<h1>The server is busy</h1>", 'http-equiv="refresh"']),
        ("POST", {"accept": "text/html"}, ["What you sent was not taken; send it again."]),
        ("POST", {"hx_request": "true"}, ['id="toasts"', "What you sent was not taken"]),
        ("GET", {"accept": "application/json"}, ['"error": "busy"']),
    ],
    ids=["page", "form", "part", "script"],
)
async def test_who_gets_no_place_is_told_so_in_what_they_can_read(
    monkeypatch: pytest.MonkeyPatch, method: str, headers: dict[str, str], told: list[str]
) -> None:
    monkeypatch.setattr(page_gate, "WAIT_SEC", 0)
    visitors = Visitors()
    flood = await visitors.flood()
    await visitors.ask(ADDRESS, method=method, **headers)
    head, body = visitors.heads[-1], visitors.bodies[-1].decode()
    raw = dict(head["headers"])
    assert (head["status"], raw[b"retry-after"]) == (429, b"1")
    assert all(words in body for words in told)
    assert (b"hx-reswap" in raw) == ("hx_request" in headers)
    assert ("refresh" in body) == (told[0].startswith("<h1>") and method == "GET")
    visitors.page.is_done.set()
    await asyncio.gather(*flood)


@pytest.mark.django_db(transaction=True)
def test_a_page_says_whose_session_it_was_made_for(admin_user: User) -> None:
    client = AsyncClient()
    client.force_login(admin_user)
    response: Any = async_to_sync(client.get)("/accounts/password/change/")
    assert response.asgi_request.scope[PERSON] == admin_user.pk
    response = async_to_sync(AsyncClient().get)("/accounts/login/")
    assert PERSON not in response.asgi_request.scope
