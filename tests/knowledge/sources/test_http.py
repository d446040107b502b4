import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from knowledge.errors import IngestFailed
from knowledge.sources.http import download, fetch, stream
from tests.support.hostile import URLS, spellings, urls_of_the_table
from tests.support.http_servers import (
    Script,
    answer,
    header_of,
    path_of,
    redirect,
    says,
    serving,
)

REFUSALS = {"bad_url", "refused_address"}


def failure_of(url: str, **how) -> dict[str, object]:
    with pytest.raises(IngestFailed) as failure:
        fetch(url, **how)
    assert failure.value.message.endswith(".")
    return failure.value.details


# What is asked and answered ---------------------------------------------------------------


def test_a_page_comes_with_its_type_and_encoding(serve) -> None:
    server = serve(says(answer(body=b"<p>hi", Content_Type='Text/HTML; Charset="UTF-8"')))
    page = fetch(server.url("/a?b=c#d"))
    assert (page.url, page.status, page.body) == (server.url("/a?b=c"), 200, b"<p>hi")
    assert (page.media_type, page.charset) == ("text/html", "utf-8")
    assert page.headers["content-length"] == "5"


def test_a_page_without_a_type_has_none(serve) -> None:
    page = fetch(serve(says(answer())).url())
    assert (page.media_type, page.charset, page.body) == ("", "", b"")


def test_the_client_says_who_it_is_and_what_it_can_read(serve, settings) -> None:
    server = serve(says(answer()))
    fetch(server.url(), headers={"Accept-Language": "de", "Host": "evil", "Accept-Encoding": "br"})
    (request,) = server.requests
    assert f"Quarry/{settings.VERSION} " in (header_of(request, "user-agent") or "")
    assert header_of(request, "accept-encoding") == "gzip, deflate"
    assert header_of(request, "accept-language") == "de"
    assert header_of(request, "host") == server.host


def test_a_header_cannot_smuggle_another(serve) -> None:
    server = serve(says(answer()))
    assert failure_of(server.url(), headers={"X-A": "b\r\nX-C: d"}) == {"reason": "bad_url"}
    assert server.requests == []


def test_a_post_sends_its_body(serve) -> None:
    server = serve(says(answer("201 Created")))
    sent = fetch(server.url(), method="POST", body=b"{}", headers={"X-Signature": "s"})
    assert sent.status == 201
    (request,) = server.requests
    assert request.startswith(b"POST / HTTP/1.1\r\n")
    assert request.endswith(b"\r\n\r\n{}")
    assert header_of(request, "x-signature") == "s"


def test_a_post_follows_no_redirect(serve) -> None:
    server = serve(says(redirect("/elsewhere")))
    assert fetch(server.url(), method="POST", body=b"x").status == 302
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "reason", "may_pass"),
    [
        (400, "refused", False),
        (401, "blocked", False),
        (403, "blocked", False),
        (404, "gone", False),
        (410, "gone", False),
        (429, "blocked", True),
        (451, "blocked", False),
        (500, "server_error", True),
        (503, "server_error", True),
    ],
)
def test_a_failing_status_is_told_by_its_reason(serve, status, reason, may_pass) -> None:
    server = serve(says(answer(f"{status} No", b"sorry")))
    details = failure_of(server.url())
    assert details.get("may_pass", False) is may_pass
    assert (details["reason"], details["status"]) == (reason, status)
    assert fetch(server.url(), any_status=True).body == b"sorry"


def test_a_range_comes_as_it_is_stored(serve) -> None:
    server = serve(says(answer("206 Partial Content", b"cd", Content_Range="bytes 2-3/9")))
    with stream(server.url(), headers={"Range": "bytes=2-3"}, max_bytes=100, seconds=5) as (
        part,
        pieces,
    ):
        assert (part.status, part.headers["content-range"]) == (206, "bytes 2-3/9")
        assert b"".join(pieces) == b"cd"
    assert header_of(server.requests[0], "accept-encoding") == "identity"


def test_a_download_goes_to_its_file(serve, tmp_path: Path) -> None:
    server = serve(says(answer(body=b"sound" * 100_000, Content_Type="audio/mpeg")))
    got = download(server.url(), tmp_path / "a.mp3", max_bytes=1_000_000, seconds=5)
    assert (got.media_type, got.body) == ("audio/mpeg", b"")
    assert (tmp_path / "a.mp3").read_bytes() == b"sound" * 100_000


def test_a_failed_download_leaves_no_file(serve, tmp_path: Path) -> None:
    server = serve(says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
    with pytest.raises(IngestFailed) as failure:
        download(server.url(), tmp_path / "a.mp3", max_bytes=1_000, seconds=5)
    assert failure.value.details == {"reason": "unreachable", "may_pass": True}
    assert list(tmp_path.iterdir()) == []


def test_many_threads_fetch_at_once(serve) -> None:
    server = serve(lambda request, peer: peer.sendall(answer(body=path_of(request).encode())))
    paths = [f"/{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        bodies = list(pool.map(lambda path: fetch(server.url(path)).body.decode(), paths))
    assert bodies == paths


# Redirects --------------------------------------------------------------------------------


def hop(request: bytes, peer: socket.socket) -> None:
    left = int(path_of(request).strip("/"))
    peer.sendall(redirect(f"/{left - 1}") if left else answer(body=b"there"))


def test_five_redirects_are_followed(serve) -> None:
    server = serve(hop)
    page = fetch(server.url("/5"))
    assert (page.url, page.body) == (server.url("/0"), b"there")


def test_the_sixth_redirect_is_one_too_many(serve) -> None:
    assert failure_of(serve(hop).url("/6")) == {"reason": "too_many_redirects"}


def test_a_circle_ends(serve) -> None:
    server = serve(says(redirect("/round")))
    assert failure_of(server.url("/round")) == {"reason": "too_many_redirects"}
    assert len(server.requests) == 6


def test_secrets_stay_with_the_first_host(serve) -> None:
    second = serve(says(answer()))
    first = serve(
        lambda request, peer: peer.sendall(
            redirect("/again" if path_of(request) == "/" else second.url())
        )
    )
    secrets = {"Authorization": "Bearer t", "Cookie": "c=1", "X-Api-Key": "k"}
    fetch(first.url(), headers={**secrets, "Accept-Language": "de"})
    for name, value in secrets.items():
        assert [header_of(request, name.lower()) for request in first.requests] == [value, value]
        assert header_of(second.requests[0], name.lower()) is None
    assert header_of(second.requests[0], "accept-language") == "de"


def redirecting_to_each(urls: list[str]) -> Script:
    return lambda request, peer: peer.sendall(redirect(urls[int(path_of(request).strip("/"))]))


def hostile_when_absolute(urls: list[str]) -> list[str]:
    """A redirect may lack a scheme or a host, which a URL that somebody gives may not."""
    return [url for url in urls if ":" in url or url.startswith("//127")]


def test_a_redirect_leads_to_no_hostile_url(serve, monkeypatch) -> None:
    urls = hostile_when_absolute(URLS)
    server = serve(redirecting_to_each(urls))
    reached = connections(monkeypatch, only=server.port)
    for number, url in enumerate(urls):
        reason = failure_of(server.url(f"/{number}"))["reason"]
        # Bytes that no header may hold are refused before the redirect is read.
        assert reason in REFUSALS or (reason == "unreachable" and not url.isprintable()), url
    assert set(reached) == {("127.0.0.1", server.port)}


def test_a_redirect_leads_to_no_url_of_the_table(serve, monkeypatch) -> None:
    urls = urls_of_the_table()
    server = serve(redirecting_to_each(urls))
    reached = connections(monkeypatch, only=server.port)
    for number, url in enumerate(urls):
        reason = failure_of(server.url(f"/{number}"))["reason"]
        assert reason in REFUSALS or (reason == "unreachable" and not url.isprintable()), url
    assert set(reached) == {("127.0.0.1", server.port)}


# Names and addresses ----------------------------------------------------------------------


def connections(monkeypatch, *, only: int = 0, instead: int = 0) -> list[tuple[str, int]]:
    """Keeps every address that is connected to; `instead` leads them all to a local port."""
    reached: list[tuple[str, int]] = []
    connect = socket.socket.connect

    def kept(self: socket.socket, address: tuple[str, int]) -> None:
        reached.append(address[:2])
        assert not only or address[1] == only
        connect(self, ("127.0.0.1", instead) if instead else address)

    monkeypatch.setattr(socket.socket, "connect", kept)
    return reached


def resolver(monkeypatch, *answers: str) -> list[str]:
    """Gives one answer after the other, and the last for ever; returns what it was asked."""
    asked: list[str] = []

    def look_up(host: str, port: int, *_: object, **__: object) -> list[Any]:
        address = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_a_name_is_looked_up_once_and_its_address_kept(monkeypatch) -> None:
    with serving(says(answer(body=b"public"))) as server:
        asked = resolver(monkeypatch, "93.184.216.34", "127.0.0.1")
        reached = connections(monkeypatch, instead=server.port)
        assert fetch("http://rebinding.org/a").body == b"public"
        assert asked == ["rebinding.org"]
        assert reached == [("93.184.216.34", 80)]
        assert header_of(server.requests[0], "host") == "rebinding.org"


def test_a_name_that_leads_inside_first_is_never_connected_to(monkeypatch) -> None:
    resolver(monkeypatch, "127.0.0.1", "93.184.216.34")
    reached = connections(monkeypatch)
    assert failure_of("http://rebinding.org/") == {"reason": "refused_address"}
    assert reached == []


def test_a_redirect_to_the_same_name_is_looked_up_and_vetted_again(monkeypatch) -> None:
    with serving(says(redirect("/again"))) as server:
        resolver(monkeypatch, "93.184.216.34", "10.0.0.1")
        reached = connections(monkeypatch, instead=server.port)
        assert failure_of("http://rebinding.org/") == {"reason": "refused_address"}
        assert reached == [("93.184.216.34", 80)]


@given(spelling=spellings())
def test_no_spelling_of_an_inner_address_is_connected_to(spelling: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        resolver(patch, "127.0.0.1")
        reached = connections(patch)
        assert failure_of(f"http://{spelling}/")["reason"] in REFUSALS
        assert failure_of(f"http://{spelling}.nip.io/")["reason"] in REFUSALS
        assert reached == []


def test_a_second_address_is_tried_when_the_first_is_dead(serve, settings, monkeypatch) -> None:
    server = serve(says(answer(body=b"here")))
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = ["twofold"]
    rows = [(2, 1, 6, "", ("127.0.0.9", server.port)), (2, 1, 6, "", ("127.0.0.1", server.port))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    assert fetch(f"http://twofold:{server.port}/").body == b"here"


def test_a_resolver_that_hangs_is_not_waited_for(monkeypatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait(10) and [])
    begun = time.monotonic()
    assert failure_of("http://slow.org/", seconds=0.2) == {"reason": "timed_out", "may_pass": True}
    assert time.monotonic() - begun < 4
    answered.set()


def test_a_private_host_answers_only_when_the_operator_names_it(serve, settings) -> None:
    server = serve(says(answer(body=b"inside")))
    assert fetch(server.url()).body == b"inside"
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = ["127.0.0.1"]
    assert fetch(server.url()).body == b"inside"
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = ["127.0.0.1:1"]
    assert failure_of(server.url())["reason"] in REFUSALS
    assert len(server.requests) == 2


def test_a_port_where_nobody_listens_is_unreachable(serve) -> None:
    server = serve(says(b""))
    server.close()
    assert failure_of(server.url()) == {"reason": "unreachable", "may_pass": True}
