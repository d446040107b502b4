"""A person's connections over REST: listed, narrowed and ended, in their own session alone."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from knowledge.access import Access
from knowledge.library.items import create_folder
from tests.support.library import Mint
from tests.support.oauth import Connector
from tokens.models import Token


@pytest.fixture
def connector(owner: User) -> Connector:
    return Connector(owner).connect(can_write="on", toolsets=["library", "memory"])


@pytest.fixture
def address(connector: Connector) -> str:
    return f"/api/v1/connections/{Token.objects.get(client__client_id=connector.client_id).pk}"


def patch(client: Client, address: str, **changes: Any) -> Any:
    return client.patch(address, changes, content_type="application/json")


def test_they_are_listed_with_what_they_reach(connector: Connector, address: str) -> None:
    [shown] = connector.browser.get("/api/v1/connections").json()["connections"]
    assert shown == connector.browser.get(address).json()
    assert shown["client_name"] == "Walker"
    assert shown["is_unscoped"] is True
    assert shown["toolsets"] == ["library", "memory"]
    assert "digest" not in shown


def test_a_connection_is_narrowed_from_the_next_call_on(
    connector: Connector, address: str, owner: User
) -> None:
    folder = create_folder(Access.whole_library(owner.pk), "Only this")
    narrowed = patch(
        connector.browser,
        address,
        folder_ids=[str(folder.pk)],
        can_write=False,
        toolsets=["library"],
    ).json()
    assert narrowed["folder_ids"] == [str(folder.pk)]
    me = connector.get("whoami").json()
    assert me["is_unscoped"] is False
    assert me["capabilities"] == ["read"]
    assert me["toolsets"] == ["library"]
    connector.tokens = connector.refresh().json()
    assert connector.get("whoami").json()["capabilities"] == ["read"]


def test_a_connection_is_never_widened(connector: Connector, address: str, owner: User) -> None:
    library = Access.whole_library(owner.pk)
    one, two = create_folder(library, "One"), create_folder(library, "Two")
    patch(connector.browser, address, folder_ids=[str(one.pk)], can_write=False)
    for changes in (
        {"can_write": True},
        {"toolsets": ["library", "registry"]},
        {"folder_ids": [str(one.pk), str(two.pk)]},
        {"folder_ids": ["00000000-0000-0000-0000-000000000000"]},
    ):
        answer = patch(connector.browser, address, **changes)
        assert answer.status_code == 400, changes
        assert "narrowed" in answer.json()["message"]
    assert connector.get("whoami").json()["capabilities"] == ["read"]


def test_a_connection_is_ended(connector: Connector, address: str) -> None:
    assert connector.browser.delete(address).status_code == 204
    assert connector.browser.delete(address).status_code == 204
    assert connector.get("whoami").status_code == 401
    assert connector.refresh().status_code == 400


def test_a_token_manages_no_connections(connector: Connector, address: str, mint: Mint) -> None:
    bearer = {"Authorization": f"Bearer {mint().secret}"}
    for path in ("/api/v1/connections", address):
        assert Client().get(path, headers=bearer).status_code == 403
        assert connector.get(path.removeprefix("/api/v1/")).status_code == 403
    assert Client().get(address).status_code == 401
