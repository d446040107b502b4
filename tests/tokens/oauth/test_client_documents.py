"""Clients that are known by a document of their own: fetched with care, believed in part."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from oauth2_provider.cimd import CIMDError
from oauth2_provider.models import Application

from tests.support.hostile import URLS
from tests.support.http_servers import answer, says
from tests.support.oauth import CALLBACK, Connector
from tests.support.tls import HOST, Secured, serving_securely
from tokens.oauth.client_documents import GuardedFetcher

CLIENT_ID = f"https://{HOST}/client.json"
DOCUMENT: dict[str, Any] = {
    "client_id": CLIENT_ID,
    "client_name": "Published client",
    "redirect_uris": [CALLBACK, "javascript:alert(1)"],
    "grant_types": ["authorization_code", "refresh_token"],
    "token_endpoint_auth_method": "none",
}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Secured]:
    body = json.dumps(DOCUMENT).encode()
    with serving_securely(tmp_path, monkeypatch, body, content_type="application/json") as made:
        yield made


def serve(host: Secured, document: object, **more: Any) -> None:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    headers = {"content_type": "application/json", **more}
    host.server.script = says(answer(body=body, **headers))


def ask(client: Client, **changes: str) -> Any:
    asked = {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": CALLBACK,
        "code_challenge": "x" * 43,
        "code_challenge_method": "S256",
    }
    return client.get("/oauth/authorize", asked | changes)


def test_a_published_client_connects_and_its_host_is_named(host: Secured, owner: User) -> None:
    connector = Connector(owner, client_id=CLIENT_ID).connect()
    assert connector.get("whoami").status_code == 200
    page = ask(connector.browser).content.decode()
    assert f"published by <strong>{HOST}</strong>" in page
    client = Application.objects.get(client_id=CLIENT_ID)
    assert client.redirect_uris == CALLBACK
    assert len(host.server.requests) == 1


@pytest.mark.parametrize(
    "document",
    [
        {**DOCUMENT, "client_id": f"https://{HOST}/other.json"},
        {**DOCUMENT, "redirect_uris": ["https://elsewhere.example/callback"]},
        {**DOCUMENT, "redirect_uris": []},
        {**DOCUMENT, "redirect_uris": CALLBACK},
        {**DOCUMENT, "client_secret": "x"},
        {**DOCUMENT, "token_endpoint_auth_method": "client_secret_post"},
        {**DOCUMENT, "grant_types": ["implicit"]},
        [DOCUMENT],
        b"<html>",
        b" " * 20_000 + json.dumps(DOCUMENT).encode(),
    ],
)
def test_a_document_that_does_not_fit_lets_nobody_in(
    host: Secured, admin_client: Client, document: object
) -> None:
    serve(host, document)
    page = ask(admin_client)
    assert page.status_code == 400
    assert "Location" not in page.headers


def test_a_document_elsewhere_or_of_another_type_is_not_read(
    host: Secured, admin_client: Client
) -> None:
    serve(host, DOCUMENT, content_type="text/html")
    assert ask(admin_client).status_code == 400
    cache.clear()
    host.server.script = says(answer(status="302 Found", location=f"https://{HOST}/other"))
    assert ask(admin_client).status_code == 400
    assert not Application.objects.exists()


@pytest.mark.parametrize("url", URLS)
def test_no_hostile_address_is_fetched(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("it was connected to")

    monkeypatch.setattr("socket.socket.connect", connect)
    for address in {url, url.replace("http://", "https://", 1) + "client.json"}:
        with pytest.raises(CIMDError):
            GuardedFetcher().fetch(address)
