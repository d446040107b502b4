"""What holds for every answer: its id, its envelope, its limits and who may read it."""

import json

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from knowledge.api.errors import STATUSES
from tests.support.library import Add, Mint
from tokens.models import Event

ORIGIN = "https://app.example"


@pytest.mark.parametrize(
    ("method", "path", "status", "error"),
    [
        ("GET", "/api/v1/items", 401, "missing_bearer_token"),
        ("GET", "/api/v1/nowhere", 404, "not_found"),
        ("GET", "/api/v2/items", 404, "not_found"),
        ("PUT", "/api/v1/nowhere", 404, "not_found"),
    ],
)
def test_every_error_has_the_envelope_and_the_id_it_was_sent(
    client: Client, db: None, method: str, path: str, status: int, error: str
) -> None:
    answer = client.generic(method, path, headers={"X-Request-ID": "my-own-id-1"})
    assert answer.status_code == status
    body = answer.json()
    assert (body["error"], body["request_id"]) == (error, "my-own-id-1")
    assert answer["X-Request-ID"] == "my-own-id-1"


def test_a_wrong_host_is_told_in_the_envelope(client: Client) -> None:
    answer = client.get("/api/v1/items", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert answer.json()["request_id"] == answer["X-Request-ID"]


def test_a_page_that_is_missing_has_an_id_too(client: Client, db: None) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert answer["X-Request-ID"]
    assert answer["Content-Type"].startswith("text/html")


def test_what_breaks_before_any_view_is_told_in_the_envelope(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("secret of the house")

    monkeypatch.setattr("knowledge.api.base.NoSuchRoute.dispatch", broken)
    client.raise_request_exception = False
    answer = client.get("/api/v1/nowhere")
    assert (answer.status_code, answer.json()["error"]) == (500, "internal_error")
    assert "secret" not in answer.content.decode()


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense", "*/*"])
def test_the_answer_is_json_whatever_is_accepted(mint: Mint, accept: str) -> None:
    answer = mint().client.get("/api/v1/folders", headers={"Accept": accept})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize(
    "body",
    [b"[" * 15_000, b'{"query": NaN}', b"\xff\xfe", b'{"query": 1' + b"0" * 5000 + b"}", b"null"],
)
def test_a_body_that_is_no_json_is_refused(mint: Mint, body: bytes) -> None:
    for content_type in ("application/json", "application/json; charset=zip"):
        answer = mint().client.post("/api/v1/search", body, content_type=content_type)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_body")


@pytest.mark.usefixtures("stopped_clock")
def test_limited_routes_say_what_is_left_also_when_nothing_is(
    mint: Mint, settings: Settings
) -> None:
    settings.QUARRY_LIMITS = {"list_folders": 1}
    client = mint().client
    allowed, refused = (client.get("/api/v1/folders") for _ in range(2))
    for answer in (allowed, refused):
        assert answer["RateLimit-Limit"] == "1"
        assert answer["RateLimit-Remaining"] == "0"
        assert 1 <= int(answer["RateLimit-Reset"]) <= 3600
    assert (refused.status_code, refused["Retry-After"]) == (429, refused["RateLimit-Reset"])


def test_a_head_counts_as_the_get_it_is(mint: Mint, add: Add) -> None:
    client = mint().client
    answer = client.head(f"/api/v1/items/{add('Stone').pk}")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["RateLimit-Remaining"] == "999"
    assert Event.objects.get().action == "get_item"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "folders"),
        ("GET", "whoami"),
        ("GET", "usage"),
        ("GET", "items/11111111-1111-4111-8111-111111111111"),
        ("DELETE", "items/11111111-1111-4111-8111-111111111111"),
        ("POST", "search"),
        ("HEAD", "folders"),
    ],
)
def test_a_parameter_that_is_not_known_is_refused_everywhere(
    mint: Mint, method: str, path: str
) -> None:
    answer = mint().client.generic(method, f"/api/v1/{path}?shiny=1")
    assert answer.status_code == 400
    if method != "HEAD":
        assert (answer.json()["error"], answer.json()["field"]) == ("invalid_body", "shiny")


def test_options_names_the_methods_and_nothing_else(mint: Mint) -> None:
    answer = mint().client.options("/api/v1/folders")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Allow"] == "GET, POST, HEAD, OPTIONS"


def cors_headers(answer: object) -> list[str]:
    headers = getattr(answer, "headers", {})
    return [name for name in headers if name.lower().startswith("access-control")]


def preflight(client: APIClient, origin: str) -> object:
    asked = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    return client.options("/api/v1/folders", headers=asked)


def test_no_page_of_another_origin_may_call_unless_it_is_named(mint: Mint, settings) -> None:
    client = mint().client
    for origin in (ORIGIN, "null", "*"):
        assert cors_headers(client.get("/api/v1/folders", headers={"Origin": origin})) == []
        assert cors_headers(preflight(client, origin)) == []
    settings.QUARRY_CORS_ORIGINS = [ORIGIN]
    for origin in ("https://app.example.evil", "null", "*", "http://app.example"):
        assert cors_headers(client.get("/api/v1/folders", headers={"Origin": origin})) == []
        assert cors_headers(preflight(client, origin)) == []


def test_a_named_origin_may_call_without_cookies(mint: Mint, settings) -> None:
    settings.QUARRY_CORS_ORIGINS = [ORIGIN]
    client = mint().client
    answer = client.get("/api/v1/folders", headers={"Origin": ORIGIN})
    assert answer["Access-Control-Allow-Origin"] == ORIGIN
    assert "X-Request-ID" in answer["Access-Control-Expose-Headers"]
    assert "Origin" in answer["Vary"]
    assert not answer.has_header("Access-Control-Allow-Credentials")
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "PATCH"}
    before = APIClient().options("/api/v1/items", headers=asked)  # a browser sends no token yet
    assert before.status_code == 204
    assert "Authorization" in before["Access-Control-Allow-Headers"]
    assert "PATCH" in before["Access-Control-Allow-Methods"]
    assert cors_headers(client.get("/admin/", headers={"Origin": ORIGIN})) == []


def test_every_code_has_one_status(mint: Mint) -> None:
    assert all(400 <= status < 600 for status in STATUSES.values())
    refused = mint().client.put("/api/v1/items", "{}", content_type="application/json")
    assert json.loads(refused.content)["error"] == "method_not_allowed"
