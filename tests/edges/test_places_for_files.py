"""Files, archives and large forms come in a few at a time of each owner, and of others beside."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from config import asgi
from tests.support.library import Mint, Minted
from tests.support.one_connection import share_connection
from tests.support.uploads import begun, put
from tokens.lanes import Bounds, Lane, Visitor

ONE = Bounds(total=9, per_owner=1, per_token=1, wait_sec=0)


@pytest.fixture(autouse=True)
def server(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of everything, one of each owner; and nobody waits for a place."""
    settings.QUARRY_HOME = tmp_path
    settings.ALLOWED_HOSTS = ["*"]
    share_connection(monkeypatch)
    for lane in (asgi.slots.bodies, asgi.slots.archives):
        monkeypatch.setattr(lane, "bounds", ONE)


def send(path: str, content: bytes, **headers: str) -> httpx2.Response:
    async def run() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=asgi.application)
        async with httpx2.AsyncClient(transport=transport) as client:
            return await client.post(f"http://testserver{path}", content=content, headers=headers)

    return async_to_sync(run)()


def upload(token: Minted, person: User) -> int:
    return put(begun(token))[0]


def import_archive(token: Minted, person: User) -> int:
    told = {"authorization": f"Bearer {token.secret}", "content-type": "application/zip"}
    return send("/api/v1/import", b"no archive", **told).status_code


def send_form(token: Minted, person: User) -> int:
    browser = Client()
    browser.force_login(person)
    session = browser.cookies["sessionid"].value
    form = {"cookie": f"sessionid={session}", "content-type": "application/x-www-form-urlencoded"}
    return send("/add/files", b"a" * 100_000, **form).status_code


@pytest.mark.parametrize(
    ("ask", "lane", "answered"),
    [
        (upload, asgi.slots.bodies, 200),
        (import_archive, asgi.slots.archives, 400),
        (send_form, asgi.slots.bodies, 403),  # which has no CSRF token
    ],
)
def test_one_owner_sends_so_many_at_once_and_others_beside(
    mint: Mint, owner: User, stranger: User, ask: Any, lane: Lane, answered: int
) -> None:
    slot = async_to_sync(lane.take)(Visitor(owner.pk, "another"))
    assert ask(mint(), owner) == 429
    assert ask(mint(by=stranger), stranger) == answered
    slot.release()
    assert ask(mint(), owner) == answered
