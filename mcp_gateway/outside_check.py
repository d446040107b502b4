"""A look at a running instance from outside, as somebody without an account sees it.

It only reads, signs in nowhere, and connects to the host that the operator typed and to no other.
"""

import http.client
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from mcp_gateway.findings import Finding

SECONDS = 10
MAX_BYTES = 200_000
STRANGER = "stranger.invalid"
PORTS = {5432: "Postgres", 6379: "Redis", 5672: "RabbitMQ", 9000: "the file store"}
"""What Quarry may use, and nobody else should reach."""

_HEADERS = {
    "content-security-policy": "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=()",
    "cross-origin-opener-policy": "same-origin",
}
"""What each page for people sends, and a part of its value."""

_PROXY = "Have the proxy in front of Quarry pass its headers on as they are."


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    cookies: tuple[str, ...]
    body: str


Fetch: TypeAlias = Callable[[str, str, Mapping[str, str]], Answer]
"""Asks the instance: a method, a path and headers."""


def look_from_outside(url: str) -> Iterator[Finding]:
    """Everything that a stranger could use, each in a sentence."""
    parts = urlsplit(url if "://" in url else f"https://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield Finding("address", "fail", f"{url} is no address of a server", "Give its http URL.")
        return
    fetch = _fetch_from(parts)
    try:
        fetch("GET", "/livez", {})
    except ssl.SSLCertVerificationError as error:
        seen = f"browsers refuse its certificate: {error.verify_message}"
        yield Finding("address", "fail", seen, "Get a certificate for this name.")
        return
    except (OSError, http.client.HTTPException) as error:
        seen = f"{parts.netloc} does not answer: {error}"
        yield Finding("address", "fail", seen, "Check the address, and that Quarry runs.")
        return
    yield from examine(parts, fetch)
    yield from _open_ports(parts.hostname)


def examine(parts: SplitResult, fetch: Fetch) -> Iterator[Finding]:
    """What the instance's own answers show."""
    yield _transport(parts)
    page = fetch("GET", "/accounts/login/", {})
    yield _headers(page)
    yield _cookies(page, is_secure=parts.scheme == "https")
    if parts.scheme == "https":
        yield _strict_transport(page)
    yield _tokens_needed(fetch)
    yield _other_hosts(fetch)
    yield _other_origins(fetch)
    yield _metrics(fetch, is_local=_is_local(parts))
    yield _errors(fetch)


def _transport(parts: SplitResult) -> Finding:
    if parts.scheme == "https":
        return Finding("transport", "ok", "Passwords and tokens travel encrypted.")
    if _is_local(parts):
        return Finding("transport", "ok", "Plain HTTP, on this machine alone.")
    return Finding(
        "transport",
        "fail",
        "Passwords and tokens cross the network in plain text; anybody on the way can read them.",
        "Put TLS in front of Quarry and give its https address to everybody.",
    )


def _headers(page: Answer) -> Finding:
    missing = [name for name, part in _HEADERS.items() if part not in page.headers.get(name, "")]
    if missing:
        seen = f"The sign-in page lacks what protects it in a browser: {', '.join(missing)}."
        return Finding("headers", "fail", seen, _PROXY)
    if "unsafe" in page.headers["content-security-policy"]:
        seen = "The sign-in page lets scripts run that are written into it."
        return Finding("headers", "fail", seen, _PROXY)
    return Finding("headers", "ok", "Pages run only their own scripts, and in no other's frame.")


def _cookies(page: Answer, *, is_secure: bool) -> Finding:
    words = [set(re.split(r";\s*", cookie.lower())) for cookie in page.cookies]
    if is_secure and not all("secure" in each for each in words):
        return Finding(
            "cookies",
            "fail",
            "A browser would send the cookies of this server over plain HTTP too.",
            "Set QUARRY_PRODUCTION=1, or QUARRY_BEHIND_PROXY=1 and have the proxy send "
            "X-Forwarded-Proto.",
        )
    if not all(each & {"samesite=lax", "samesite=strict"} for each in words):
        return Finding("cookies", "fail", "Other sites' forms would send its cookies.", _PROXY)
    return Finding("cookies", "ok", "Cookies are sent to this server alone.")


def _strict_transport(page: Answer) -> Finding:
    if "strict-transport-security" in page.headers:
        return Finding("plain http", "ok", "Browsers that know this server use https alone.")
    return Finding(
        "plain http",
        "note",
        "A browser that is given the http address uses it.",
        "Have the proxy send Strict-Transport-Security once all of this host is https.",
    )


def _tokens_needed(fetch: Fetch) -> Finding:
    calls = (("GET", "/api/v1/items"), ("GET", "/api/v1/export"), ("POST", "/mcp"))
    open_to_all = [
        path
        for method, path in calls
        if fetch(method, path, {"Content-Type": "application/json"}).status not in (401, 406)
    ]
    if open_to_all:
        seen = f"Something answers without a token: {', '.join(open_to_all)}."
        return Finding("tokens", "fail", seen, "Check what the proxy adds to requests.")
    return Finding("tokens", "ok", "Nothing of a library is answered without a token.")


def _other_hosts(fetch: Fetch) -> Finding:
    if fetch("GET", "/accounts/login/", {"Host": STRANGER}).status < 400:
        return Finding(
            "host names",
            "fail",
            "It answers to any host name, so a web page can reach it by DNS rebinding.",
            "Set QUARRY_ALLOWED_HOSTS to its own names, and let the proxy pass on Host.",
        )
    return Finding("host names", "ok", "It answers to its own names alone.")


def _other_origins(fetch: Fetch) -> Finding:
    origin = f"https://{STRANGER}"
    allowed = fetch("GET", "/api/v1/whoami", {"Origin": origin}).headers
    if allowed.get("access-control-allow-origin", "") in ("*", origin):
        seen = "Pages of any origin may call REST with a token that they were given."
        return Finding("origins", "note", seen, "Name the origins in QUARRY_CORS_ORIGINS.")
    return Finding("origins", "ok", "Pages of other origins cannot read its answers.")


def _metrics(fetch: Fetch, *, is_local: bool) -> Finding:
    if fetch("GET", "/metrics", {}).status != 200:
        return Finding("metrics", "ok", "Metrics are not for everybody.")
    if is_local:
        return Finding("metrics", "ok", "Metrics are for this machine, as asked from here.")
    seen = "Anybody can read how many calls, jobs and errors there are, at /metrics."
    return Finding("metrics", "fail", seen, "Set QUARRY_METRICS_TOKEN, and keep /metrics inside.")


def _errors(fetch: Fetch) -> Finding:
    page = fetch("GET", "/no-such-page-of-quarry", {})
    if "DEBUG = True" in page.body or "Traceback" in page.body:
        seen = "Errors show the code and its settings."
        return Finding("errors", "fail", seen, "Unset QUARRY_DEBUG.")
    return Finding("errors", "ok", "Errors show nothing of the code.")


def _open_ports(host: str) -> Iterator[Finding]:
    """Whatever else of Quarry's answers at this host; on this machine that is as it should be."""
    if host in _LOCAL:
        return
    reached = [f"{name} ({port})" for port, name in PORTS.items() if _answers(host, port)]
    if reached:
        seen = f"Others can connect to {', '.join(reached)}."
        yield Finding("ports", "fail", seen, "Close these ports to the network.")
    else:
        yield Finding("ports", "ok", "Neither the database nor the queue answers from here.")


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=2):
            return True
    except OSError:
        return False


_LOCAL = ("localhost", "127.0.0.1", "::1")


def _is_local(parts: SplitResult) -> bool:
    return parts.hostname in _LOCAL


def _fetch_from(parts: SplitResult) -> Fetch:
    def fetch(method: str, path: str, headers: Mapping[str, str]) -> Answer:
        host, port = str(parts.hostname), parts.port
        if parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=SECONDS, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
        try:
            connection.request(method, path, headers=dict(headers))
            answer = connection.getresponse()
            body = answer.read(MAX_BYTES).decode(errors="replace")
        finally:
            connection.close()
        named = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, named, tuple(answer.headers.get_all("Set-Cookie") or ()), body)

    return fetch
