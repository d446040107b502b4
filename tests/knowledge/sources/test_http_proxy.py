import socket
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from knowledge.errors import IngestFailed
from knowledge.sources.http import fetch
from tests.support.http_servers import (
    RawServer,
    answer,
    forwarding,
    header_of,
    path_of,
    redirect,
    says,
    serving,
)


@pytest.fixture
def site() -> Iterator[RawServer]:
    with serving(says(answer(body=b"by proxy"))) as server:
        yield server


@pytest.fixture
def proxy(site: RawServer, settings) -> Iterator[RawServer]:
    with serving(forwarding(site.port)) as server:
        settings.QUARRY_EGRESS_PROXY = f"http://{server.host}"
        yield server


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the resolver here knows; what is missing is unknown to it."""
    known: dict[str, str] = {}

    def look_up(host: str, port: int, *_: object, **__: object) -> list[Any]:
        if host not in known:
            raise socket.gaierror("no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


def failure_of(url: str, **how) -> dict[str, object]:
    with pytest.raises(IngestFailed) as failure:
        fetch(url, **how)
    return failure.value.details


@pytest.mark.usefixtures("names")
def test_the_proxy_gets_the_whole_url_and_looks_the_name_up_itself(proxy: RawServer) -> None:
    assert fetch("http://example.org/a?b").body == b"by proxy"
    (request,) = proxy.requests
    assert path_of(request) == "http://example.org/a?b"
    assert header_of(request, "host") == "example.org"


@pytest.mark.usefixtures("names")
def test_a_url_is_as_strictly_read_as_without_a_proxy(proxy: RawServer) -> None:
    assert failure_of("http://169.254.169.254/") == {"reason": "refused_address"}
    assert failure_of("http://localhost/") == {"reason": "refused_address"}
    assert failure_of("http://example.org:22/") == {"reason": "bad_url"}
    assert proxy.requests == []


def test_a_name_that_leads_inside_here_is_refused_here(proxy: RawServer, names) -> None:
    names["inside.example.org"] = "10.0.0.1"
    assert failure_of("http://inside.example.org/") == {"reason": "refused_address"}
    assert proxy.requests == []


def test_a_redirect_behind_the_proxy_is_checked(settings, names) -> None:
    with serving(says(redirect("http://127.0.0.1/"))) as proxy:
        settings.QUARRY_EGRESS_PROXY = f"http://{proxy.host}"
        assert failure_of("http://example.org/") == {"reason": "refused_address"}


@pytest.mark.usefixtures("names", "proxy")
def test_a_proxy_of_the_call_comes_before_the_setting(site: RawServer) -> None:
    with serving(forwarding(site.port)) as another:
        fetch("http://example.org/", proxy=f"http://{another.host}")
        assert len(another.requests) == 1


@pytest.mark.usefixtures("names")
def test_the_proxy_gets_its_login_and_the_site_does_not(proxy: RawServer, settings) -> None:
    settings.QUARRY_EGRESS_PROXY = f"http://ada:p%40ss@{proxy.host}"
    fetch("http://example.org/")
    login = "Basic " + b64encode(b"ada:p@ss").decode()
    assert header_of(proxy.requests[0], "proxy-authorization") == login


@pytest.mark.usefixtures("names")
def test_a_proxy_that_refuses_makes_the_site_unreachable(settings) -> None:
    with serving(says(answer("403 Forbidden"))) as refusing:
        settings.QUARRY_EGRESS_PROXY = f"http://{refusing.host}"
        details = failure_of("https://example.org/")
    assert details == {"reason": "unreachable", "may_pass": True}


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize(
    "wrong", ["socks5://127.0.0.1:1080", "127.0.0.1:3128", "http://", "http://[::1", "http://a:b"]
)
def test_a_proxy_that_cannot_be_used_stops_every_fetch(settings, wrong: str) -> None:
    settings.QUARRY_EGRESS_PROXY = wrong
    assert failure_of("http://example.org/") == {"reason": "unreachable"}
