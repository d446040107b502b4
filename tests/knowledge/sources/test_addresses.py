import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.errors import IngestFailed
from knowledge.sources.addresses import addresses_of, is_public, read_redirect, read_url
from tests.support.hostile import (
    BAD_ADDRESSES,
    GOOD_ADDRESSES,
    URLS,
    spellings,
    urls_of_the_table,
)

REFUSALS = {"bad_url", "refused_address"}


@pytest.fixture
def no_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a refused URL was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", asked)


def answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)


def refusal(url: str) -> str:
    with pytest.raises(IngestFailed) as failure:
        read_url(url)
    assert failure.value.message.endswith(".")
    return str(failure.value.details["reason"])


@pytest.mark.usefixtures("no_lookups")
@pytest.mark.parametrize("url", URLS, ids=ascii)
def test_a_hostile_url_is_refused_by_its_letters(url: str) -> None:
    assert refusal(url) in REFUSALS


@pytest.mark.usefixtures("no_lookups")
def test_every_url_of_the_table_is_refused() -> None:
    urls = urls_of_the_table()
    assert len(urls) > 90
    assert {refusal(url) for url in urls} == REFUSALS


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_a_special_address_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", GOOD_ADDRESSES)
def test_an_ordinary_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org:443/a?b=c#d", "https://example.org/a?b=c"),
        ("http://example.org:8080?q", "http://example.org:8080/?q"),
        ("https://Bücher.example/über", "https://xn--bcher-kva.example/%C3%BCber"),
        ("http://r3---sn-4g5e6nz7.googlevideo.com/x", None),
        ("http://my_blog.example.org/", None),
        ("http://8.8.8.8:8000/", None),
        ("http://[2606:4700:0::1111]/", "http://[2606:4700::1111]/"),
        ("http://example.org/a%20b%2Fc|d", "http://example.org/a%20b%2Fc%7Cd"),
        ("http://example.org/@who:x/?u=http://127.0.0.1/", None),
    ],
)
def test_an_ordinary_url_is_read(url: str, told: str | None) -> None:
    assert read_url(url).url == (told or url)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "http://example.org:8080/b"),
        ("c?d", "http://example.org:8080/a/c?d"),
        ("//other.org/x", "http://other.org/x"),
        ("https://other.org", "https://other.org/"),
        (" /with space ", "http://example.org:8080/with%20space"),
    ],
)
def test_a_redirect_is_read_from_where_it_was_said(location: str, url: str) -> None:
    assert read_redirect(read_url("http://example.org:8080/a/b"), location).url == url


@pytest.mark.parametrize(
    "location", ["//127.0.0.1/", "/\t/127.0.0.1/", "/a\tb", "/\\127.0.0.1", "http:///x"]
)
def test_a_redirect_is_checked_like_any_url(location: str) -> None:
    with pytest.raises(IngestFailed):
        read_redirect(read_url("http://example.org/"), location)


@pytest.mark.parametrize("bad", BAD_ADDRESSES)
def test_one_bad_address_refuses_the_whole_name(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "93.184.216.34", bad, "8.8.8.8")
    with pytest.raises(IngestFailed) as failure:
        addresses_of(read_url("http://example.org/"), seconds=5)
    assert failure.value.details == {"reason": "refused_address"}


def test_a_name_with_good_addresses_keeps_them_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "8.8.8.8", "2606:4700::1111", "8.8.8.8")
    found = addresses_of(read_url("http://example.org/"), seconds=5)
    assert found == [IPv4Address("8.8.8.8"), IPv6Address("2606:4700::1111")]


def test_a_name_that_nobody_knows_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(IngestFailed) as failure:
        addresses_of(read_url("http://example.org/"), seconds=5)
    assert failure.value.details == {"reason": "unreachable", "may_pass": True}


@pytest.mark.parametrize(
    ("named", "url", "is_allowed"),
    [
        ("intranet", "http://intranet/", True),
        ("intranet", "http://INTRANET:9000/", True),
        ("Wiki.Corp:8443", "https://wiki.corp:8443/", True),
        ("wiki.corp:8443", "https://wiki.corp/", False),
        ("wiki.corp:443", "https://wiki.corp/", True),
        ("wiki.corp", "https://a.wiki.corp/", False),
        ("127.0.0.1:9000", "http://127.0.0.1:9000/", True),
        ("127.0.0.1:9000", "http://127.0.0.1/", False),
        ("127.0.0.1", "http://127.1/", False),
        ("127.0.0.1", "http://localhost/", False),
        ("[::1]:9000", "http://[::1]:9000/", True),
        ("::1", "http://[::1]:9000/", True),
        ("::1:9000", "http://[::1]:9000/", False),
        ("localhost", "http://user@localhost/", False),
    ],
)
def test_the_operator_alone_opens_private_hosts(named, url, is_allowed, settings) -> None:
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [named]
    if is_allowed:
        assert read_url(url).is_named_by_operator
    else:
        assert refusal(url) in REFUSALS


@given(spelling=spellings(), tail=st.sampled_from(["", ".", ":80", ":8080"]))
def test_no_spelling_of_an_inner_address_is_read(spelling: str, tail: str) -> None:
    assert refusal(f"http://{spelling}{tail}/") in REFUSALS


@given(host=st.text(min_size=1, max_size=30))
def test_any_text_is_read_or_refused_and_nothing_else(host: str) -> None:
    try:
        place = read_url(f"http://{host}/")
    except IngestFailed:
        return
    assert place.url.isascii()
    assert "." in place.host or is_public(ip_address(place.host))
