"""One request and its answer, over a connection that is pinned to vetted addresses."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from ssl import SSLContext
from urllib.parse import unquote, urlsplit

import httpcore2
from django.conf import settings

from knowledge.errors import IngestFailed
from knowledge.sources.addresses import Place, addresses_of, look_up
from knowledge.sources.wire import Deadline, PinnedBackend, unreachable

PROXY_LOOKUP_SECONDS = 2
# Ours to say; a caller's word on them is not passed on.
_FRAMING = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# All else, such as Authorization and Cookie, was meant for the first host alone.
_KEPT_ON_A_MOVE = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "if-modified-since",
        "if-none-match",
        "if-range",
        "range",
        "user-agent",
    }
)
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request: its target, its headers, and the most bytes of its answer."""

    place: Place
    method: str
    headers: dict[str, str]
    body: bytes | None
    max_bytes: int
    proxy: str

    def redirect_to(self, place: Place) -> "Ask":
        """The same ask of the place that a redirect leads to, without the first host's secrets."""
        if place.origin == self.place.origin:
            return replace(self, place=place)
        kept = {name: value for name, value in self.headers.items() if name in _KEPT_ON_A_MOVE}
        return replace(self, place=place, headers=kept)


def headers_to_send(given: Mapping[str, str], body: bytes | None) -> dict[str, str]:
    """The caller's headers and ours; Host is missing, since it follows the place."""
    told = {name.lower(): value for name, value in given.items()}
    for name, value in told.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise IngestFailed("A header holds what cannot be sent; mend it.", reason="bad_url")
    # A range is one of bytes as they are stored: compressed, it could not be put together again.
    whole = "range" not in told and told.get("accept-encoding", "") != "identity"
    return {
        "user-agent": f"Quarry/{settings.VERSION} (self-hosted knowledge base)",
        "accept": "*/*",
        **{name: value for name, value in told.items() if name not in _FRAMING},
        "accept-encoding": "gzip, deflate" if whole else "identity",
        "connection": "close",
        **({} if body is None else {"content-length": str(len(body))}),
    }


@contextmanager
def exchange(ask: Ask, *, deadline: Deadline) -> Iterator[httpcore2.Response]:
    """The head of the answer, with its body yet to be read; the connection is closed after."""
    with _pool(ask, deadline) as pool:
        with failures_told():
            response = pool.handle_request(_request(ask))
        try:
            yield response
        finally:
            response.close()


@contextmanager
def failures_told() -> Iterator[None]:
    """Turns what the HTTP library raises into our own words."""
    try:
        yield
    except httpcore2.ProxyError:
        raise unreachable("The proxy did not let the request through") from None
    except httpcore2.LocalProtocolError:
        raise IngestFailed("The URL cannot be asked for; check it.", reason="bad_url") from None
    except (httpcore2.RemoteProtocolError, httpcore2.NetworkError, httpcore2.TimeoutException):
        raise unreachable("The server broke off or spoke no proper HTTP") from None


def _request(ask: Ask) -> httpcore2.Request:
    place = ask.place
    headers = {"host": place.authority, **ask.headers}
    return httpcore2.Request(
        ask.method,
        httpcore2.URL(
            scheme=place.scheme,
            host=place.url_host,
            port=None if place.has_default_port else place.port,
            target=place.target,
        ),
        headers=[
            (name.title().encode(), value.encode("latin-1")) for name, value in headers.items()
        ],
        content=ask.body,
        extensions={"sni_hostname": place.host},
    )


def _pool(ask: Ask, deadline: Deadline) -> httpcore2.ConnectionPool:
    # Twice over, and some: headers and the framing of chunks are on the wire as well.
    wire_bytes = 2 * ask.max_bytes + 1_000_000
    if ask.proxy:
        return _proxy_pool(ask, deadline, wire_bytes)
    addresses = addresses_of(ask.place, seconds=deadline.seconds_left())
    backend = PinnedBackend(addresses, deadline=deadline, max_bytes=wire_bytes)
    return httpcore2.ConnectionPool(ssl_context=_tls(), network_backend=backend)


def _proxy_pool(ask: Ask, deadline: Deadline, wire_bytes: int) -> httpcore2.ConnectionPool:
    """Through the operator's proxy.

    It is the proxy that looks the name up for the connection, so it must refuse inner addresses
    itself. What the resolver here knows is vetted here all the same; where only the proxy has a
    resolver, the name goes to it by its letters alone.
    """
    try:
        addresses_of(ask.place, seconds=deadline.seconds_left(PROXY_LOOKUP_SECONDS))
    except IngestFailed as failure:
        if failure.details["reason"] == "refused_address":
            raise
    host, port, login = _read_proxy(ask.proxy)
    backend = PinnedBackend(
        look_up(host, port, seconds=deadline.seconds_left()),
        deadline=deadline,
        max_bytes=wire_bytes,
    )
    return httpcore2.HTTPProxy(
        httpcore2.URL(scheme="http", host=host, port=port, target="/"),
        proxy_auth=login,
        ssl_context=_tls(),
        network_backend=backend,
    )


def _read_proxy(proxy: str) -> tuple[str, int, tuple[bytes, bytes] | None]:
    try:
        parts = urlsplit(proxy)
        host, port = parts.hostname or "", parts.port or 80
    except ValueError:
        host, port = "", 0
    if not host or parts.scheme != "http":
        raise IngestFailed(
            "The operator's proxy is not of the form http://host:port; its setting must be mended "
            "before links can be fetched.",
            reason="unreachable",
        )
    if parts.username is None:
        return host, port, None
    return host, port, (unquote(parts.username).encode(), unquote(parts.password or "").encode())


@cache
def _tls() -> SSLContext:
    return httpcore2.default_ssl_context()
