"""The guarded HTTP client: the only way out for any URL that somebody else can influence.

A URL is read strictly, its name is looked up once, every address is vetted, and the connection
goes to one of the vetted addresses, so that a later answer of the resolver does not matter. The
name itself stays in the Host header, in SNI and in the check of the certificate.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpcore2
from django.conf import settings

from knowledge.errors import IngestFailed
from knowledge.monitoring.turns import while_waiting
from knowledge.sources.addresses import read_redirect, read_url
from knowledge.sources.http_exchange import Ask, exchange, failures_told, headers_to_send
from knowledge.sources.inflating import Inflater
from knowledge.sources.wire import Deadline, too_large

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BLOCKED = frozenset({401, 403, 429, 451})
_GONE = frozenset({404, 410})
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server said in the end."""

    url: str
    """The address that really answered, after redirects."""
    status: int
    headers: Mapping[str, str]
    """By lower-case name; several of one name are joined by a comma."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The same as they came, one by one; cookies cannot be joined."""
    body: bytes = b""

    @property
    def media_type(self) -> str:
        """Lower-case and without parameters; empty when the server names none."""
        return re.split("[;,]", self.headers.get("content-type", ""))[0].strip().lower()

    @property
    def charset(self) -> str:
        """The encoding that the server names, in lower case; empty when it names none."""
        match = _CHARSET.search(self.headers.get("content-type", ""))
        return match[1].lower() if match else ""


def fetch(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    max_bytes: int = 20_000_000,
    seconds: float = 20,
    any_status: bool = False,
    proxy: str = "",
) -> Answer:
    """The whole answer to one request; fails as IngestFailed with a reason, and in no other way."""
    with stream(
        url,
        method=method,
        headers=headers,
        body=body,
        max_bytes=max_bytes,
        seconds=seconds,
        any_status=any_status,
        proxy=proxy,
    ) as (answer, pieces):
        return replace(answer, body=b"".join(pieces))


def download(
    url: str,
    to: Path,
    *,
    headers: Mapping[str, str] | None = None,
    max_bytes: int,
    seconds: float,
    proxy: str = "",
) -> Answer:
    """The answer's body in a file, never wholly in memory; a failure leaves no file behind."""
    with stream(url, headers=headers, max_bytes=max_bytes, seconds=seconds, proxy=proxy) as (
        answer,
        pieces,
    ):
        try:
            with to.open("wb") as file:
                file.writelines(pieces)
        except BaseException:
            to.unlink(missing_ok=True)
            raise
    return answer


def sendable(value: str, longest: int) -> str:
    """A response header that can be sent back unchanged; otherwise an empty string."""
    return value if len(value) <= longest and value.isascii() and value.isprintable() else ""


@contextmanager
def stream(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    max_bytes: int,
    seconds: float,
    any_status: bool = False,
    max_redirects: int = MAX_REDIRECTS,
    proxy: str = "",
) -> Iterator[tuple[Answer, Iterator[bytes]]]:
    """The answer with its body yet to come, piece by piece, decompressed and within its limits.

    With `max_redirects=0` a redirect is an answer like any other, as it always is to a POST.
    """
    deadline = Deadline(seconds)
    ask = Ask(
        place=read_url(url),
        method=method.upper(),
        headers=headers_to_send(headers or {}, body),
        body=body,
        max_bytes=max_bytes,
        proxy=proxy or settings.QUARRY_EGRESS_PROXY,
    )
    follows = max_redirects > 0 and ask.method in ("GET", "HEAD")
    for _ in range(max_redirects + 1):
        with while_waiting(), exchange(ask, deadline=deadline) as response:
            answer = _answer(ask, response)
            location = _location(answer) if follows else ""
            if not location:
                if not any_status:
                    _refuse_failure(answer.status)
                yield answer, _body(answer, response, ask=ask, deadline=deadline)
                return
        ask = ask.redirect_to(read_redirect(ask.place, location))
    raise IngestFailed(
        "The link redirects over and over; give the address where it ends.",
        reason="too_many_redirects",
    )


def _answer(ask: Ask, response: httpcore2.Response) -> Answer:
    pairs = tuple((_text(name), _text(value)) for name, value in response.headers)
    headers: dict[str, str] = {}
    for name, value in pairs:
        low = name.lower()
        headers[low] = f"{headers[low]}, {value}" if low in headers else value
    return Answer(url=ask.place.url, status=response.status, headers=headers, pairs=pairs)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _location(answer: Answer) -> str:
    return answer.headers.get("location", "") if answer.status in _REDIRECTS else ""


def _refuse_failure(status: int) -> None:
    if status < 400:
        return
    if status in _BLOCKED:
        passing = {"may_pass": True} if status == 429 else {}
        raise IngestFailed(
            f"The server does not let us read this (HTTP {status}); give a link that needs no "
            "login, or upload the content.",
            reason="blocked",
            status=status,
            **passing,
        )
    if status in _GONE:
        raise IngestFailed(
            f"There is nothing at this address (HTTP {status}); check the URL.",
            reason="gone",
            status=status,
        )
    if status >= 500:
        raise IngestFailed(
            f"The server has a fault of its own (HTTP {status}); try again later.",
            reason="server_error",
            status=status,
            may_pass=True,
        )
    raise IngestFailed(
        f"The server refuses the request (HTTP {status}); check the URL.",
        reason="refused",
        status=status,
    )


def _body(
    answer: Answer, response: httpcore2.Response, *, ask: Ask, deadline: Deadline
) -> Iterator[bytes]:
    announced = answer.headers.get("content-length", "")
    if ask.method != "HEAD" and announced.isdecimal() and int(announced) > ask.max_bytes:
        raise too_large()
    inflater = Inflater(answer.headers.get("content-encoding", ""))
    taken = made = 0
    with failures_told():
        for chunk in response.iter_stream():
            taken += len(chunk)
            if taken > ask.max_bytes:
                raise too_large()
            for piece in inflater.inflate(chunk):
                made += len(piece)
                if made > ask.max_bytes:
                    raise too_large()
                deadline.seconds_left()
                yield piece
    inflater.finish()
