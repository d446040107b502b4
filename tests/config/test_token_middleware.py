"""Calls with tokens pass fewer middlewares than pages do, and are answered alike."""

from io import BytesIO
from typing import Any

import pytest
from django.conf import settings as configured
from django.db.backends.base.base import BaseDatabaseWrapper

from config.django_app import DjangoHandler
from knowledge.errors import InvalidToken
from tests.support.library import Mint
from tokens.rest import REFUSAL

ORIGIN = "https://app.example.org"
CALLS = (
    ("GET", "/api/v1/folders"),
    ("HEAD", "/api/v1/folders"),
    ("GET", "/api/v1/folders?unknown=1"),
    ("GET", "/api/v1/search?query=granite&mode=keyword"),
    ("GET", "/api/v1/items/none"),
    ("GET", "/api/v1/activity?per_page=1&outcome=busy"),
    ("OPTIONS", "/api/v1/items"),
    ("DELETE", "/api/v1/folders"),
    ("POST", "/api/v1/folders"),
    ("GET", "/api/v1/folders/"),
)
COUNTS = (b"ratelimit-remaining", b"ratelimit-reset")


def scope(method: str, address: str, secret: str, host: str = "localhost") -> dict[str, Any]:
    path, _, query = address.partition("?")
    headers = {
        "host": host,
        "authorization": f"Bearer {secret}",
        "content-type": "application/json",
        "origin": ORIGIN,
        "x-request-id": "a-request-id",
    }
    return {
        "type": "http",
        "http_version": "1.1",
        "scheme": "https",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 443),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


def answers(asked: dict[str, Any]) -> list[tuple[int, dict[bytes, bytes], bytes]]:
    """By the middlewares of pages, and by those of calls with tokens."""
    found = []
    for handler in (DjangoHandler(), DjangoHandler(configured.TOKEN_MIDDLEWARE)):
        answer = handler.answer({**asked}, BytesIO())
        headers = {name.lower(): value for name, value in answer.headers}
        kept = {name: value for name, value in headers.items() if name not in COUNTS}
        assert len(headers) == len(answer.headers)
        found.append((answer.status, kept, answer.body))
    return found


@pytest.fixture(autouse=True)
def in_one_transaction(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Nothing closes the connection; pages of one origin may call, and TLS is asked for."""
    monkeypatch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", lambda self: None)
    settings.QUARRY_CORS_ORIGINS = [ORIGIN]
    settings.SECURE_HSTS_SECONDS = 60


@pytest.mark.django_db
def test_a_call_is_answered_alike_without_what_only_pages_need(mint: Mint) -> None:
    secret = mint().secret
    for method, address in CALLS:
        full, short = answers(scope(method, address, secret))
        assert full == short, address
        assert {b"strict-transport-security", b"x-request-id"} < short[1].keys()
        assert short[1][b"access-control-allow-origin"] == ORIGIN.encode()


def test_a_refusal_is_answered_alike_and_without_the_database() -> None:
    refused = {REFUSAL: InvalidToken("No.")}
    for method, address in CALLS:
        full, short = answers({**scope(method, address, "wrong"), **refused})
        assert full == short, address
    full, short = answers({**scope("GET", "/api/v1/whoami", "x", host="elsewhere"), **refused})
    assert full == short
