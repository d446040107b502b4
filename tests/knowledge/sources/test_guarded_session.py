import socket

import pytest
import requests

from knowledge.errors import IngestFailed
from knowledge.sources.guarded_session import guarded_session
from tests.support.http_servers import answer, header_of, path_of, redirect, says, serving


def test_a_session_reads_pages_and_json(settings) -> None:
    page = answer(body='{"a": "ü"}'.encode(), Content_Type="application/json; charset=utf-8")
    with serving(says(page)) as server:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [server.host]
        got = guarded_session().post(server.url("/x"), json={"b": 1})
        assert (got.status_code, got.json(), got.url) == (200, {"a": "ü"}, server.url("/x"))
        assert server.requests[0].endswith(b'{"b": 1}')
        assert "Quarry/" in (header_of(server.requests[0], "user-agent") or "")


def test_a_failing_status_is_the_librarys_to_judge(settings) -> None:
    with serving(says(answer("429 Too Many"))) as server:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [server.host]
        got = guarded_session().get(server.url())
        with pytest.raises(requests.HTTPError):
            got.raise_for_status()


def test_cookies_live_through_redirects(settings) -> None:
    def consent(request: bytes, peer: socket.socket) -> None:
        if path_of(request) == "/":
            cookies = b"Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/\r\n"
            peer.sendall(redirect("/in").replace(b"Location", cookies + b"Location"))
        else:
            peer.sendall(answer(body=(header_of(request, "cookie") or "").encode()))

    with serving(consent) as server:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [server.host]
        session = guarded_session()
        session.cookies.set("CONSENT", "YES", domain="127.0.0.1")
        assert set(session.get(server.url()).text.split("; ")) == {"CONSENT=YES", "a=1", "b=2"}


@pytest.mark.parametrize("hostile", ["http://169.254.169.254/", "http://localhost/", "//127.1/"])
def test_a_redirect_of_a_session_leads_nowhere_hostile(settings, hostile: str) -> None:
    with serving(says(redirect(hostile))) as server:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [server.host]
        with pytest.raises(IngestFailed) as failure:
            guarded_session().get(server.url())
        assert failure.value.details == {"reason": "refused_address"}


def test_a_circle_of_a_session_ends(settings) -> None:
    with serving(says(redirect("/"))) as server:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [server.host]
        with pytest.raises(requests.TooManyRedirects):
            guarded_session().get(server.url())


def test_nothing_but_the_guarded_client_is_mounted() -> None:
    with pytest.raises(IngestFailed):
        guarded_session().get("http://127.0.0.1:9/", proxies={"http": "http://127.0.0.1:9"})
    with pytest.raises(requests.exceptions.InvalidSchema):
        guarded_session().get("ftp://example.org/")


def test_the_proxy_of_a_session_is_used(settings) -> None:
    with serving(says(answer(body=b"by proxy"))) as proxy:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = ["videos.example.org"]
        got = guarded_session(f"http://{proxy.host}").get("http://videos.example.org/v")
        assert got.content == b"by proxy"
        assert path_of(proxy.requests[0]) == "http://videos.example.org/v"
