"""What `doctor --security` says of an instance, as it is and as a proxy may spoil it."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from mcp_gateway.outside_check import Answer, Fetch, examine

pytestmark = pytest.mark.django_db
HTTPS, HTTP = "https://kb.example.org", "http://kb.example.org"


def ask(method: str, path: str, headers: Mapping[str, str]) -> Answer:
    """Django's own answers; MCP stands beside Django, and answers 401 to whoever has no token."""
    if path == "/mcp":
        return Answer(401, {}, (), "")
    host = headers.get("Host", "kb.example.org")
    answer = Client().generic(method, path, headers={**headers, "Host": host}, secure=True)
    named = {name.lower(): value for name, value in answer.headers.items()}
    cookies = tuple(cookie.OutputString() for cookie in answer.cookies.values())
    return Answer(answer.status_code, named, cookies, answer.content.decode())


@pytest.fixture
def hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["kb.example.org"]
    settings.QUARRY_METRICS_TOKEN = "the operator's"


def states(url: str, fetch: Fetch = ask) -> dict[str, str]:
    return {each.about: each.state for each in examine(urlsplit(url), fetch)}


@pytest.mark.usefixtures("hosts")
def test_an_instance_behind_tls_is_in_order() -> None:
    found = states(HTTPS)
    assert found.pop("plain http") == "note"
    assert set(found.values()) == {"ok"}
    assert states(HTTP)["transport"] == "fail"


@pytest.mark.usefixtures("hosts")
def test_what_a_proxy_or_a_setting_spoils_is_told() -> None:
    def stripped(method: str, path: str, headers: Mapping[str, str]) -> Answer:
        answer = ask(method, path, {name: text for name, text in headers.items() if name != "Host"})
        plain = tuple(cookie.replace("Secure", "") for cookie in answer.cookies)
        return replace(answer, headers={}, cookies=plain, body="You see this since DEBUG = True")

    found = states(HTTPS, stripped)
    assert {about for about, state in found.items() if state == "fail"} == {
        *("headers", "cookies", "host names", "errors")
    }

    def open_to_all(method: str, path: str, headers: Mapping[str, str]) -> Answer:
        return replace(ask(method, path, headers), status=200)

    found = states(HTTPS, open_to_all)
    assert {about for about, state in found.items() if state == "fail"} == {
        *("tokens", "host names", "metrics")
    }


def test_the_command_asks_the_address_and_exits_with_1(httpserver: HTTPServer) -> None:
    httpserver.expect_request(re.compile("/.*")).respond_with_data("Everything")
    out = StringIO()
    with pytest.raises(CommandError, match="Something needs fixing"):
        call_command("doctor", "--json", "--security", httpserver.url_for("/"), stdout=out)
    told = {each["about"]: each for each in json.loads(out.getvalue())}
    assert told["tokens"]["seen"].startswith("Something answers without a token: /api/v1/items")
    assert told["headers"]["state"] == told["host names"]["state"] == "fail"


def test_an_address_where_nothing_answers_is_told_in_a_line() -> None:
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", "--security", "http://127.0.0.1:9", stdout=out)
    assert "127.0.0.1:9 does not answer" in out.getvalue()
