"""The guarded client in the shape of a `requests` session, for libraries that want one."""

from email.message import Message
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import requests
from requests.adapters import BaseAdapter
from requests.cookies import extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers

from knowledge.sources.http import MAX_REDIRECTS, Answer, stream

SECONDS = 20
MAX_BYTES = 20_000_000


def guarded_session(proxy: str = "") -> requests.Session:
    """A session whose every request, each redirect's too, goes through the guarded client.

    What the client refuses is raised as IngestFailed, right through the library that asked.
    """
    session = requests.Session()
    session.trust_env = False
    session.max_redirects = MAX_REDIRECTS
    session.headers.clear()
    session.mount("http://", GuardedAdapter(proxy))
    session.mount("https://", GuardedAdapter(proxy))
    return session


class GuardedAdapter(BaseAdapter):
    """Sends one request; the session keeps the cookies and follows the redirects."""

    def __init__(self, proxy: str = "") -> None:
        super().__init__()
        self._proxy = proxy

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        # The rest of what `requests` would tell, such as its proxies and `verify`, is not ours.
        with stream(
            _text(request.url or ""),
            method=_text(request.method or "GET"),
            headers={_text(name): _text(value) for name, value in request.headers.items()},
            body=_body(request),
            max_bytes=MAX_BYTES,
            seconds=SECONDS,
            any_status=True,
            max_redirects=0,
            proxy=self._proxy,
        ) as (answer, pieces):
            return _response(request, answer, body=b"".join(pieces))

    def close(self) -> None:
        """Nothing is kept open between requests."""


def _body(request: requests.PreparedRequest) -> bytes | None:
    body = request.body
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    raise TypeError("The guarded session sends bodies of text and bytes alone.")


def _response(
    request: requests.PreparedRequest, answer: Answer, *, body: bytes
) -> requests.Response:
    response = requests.Response()
    response.status_code = answer.status
    response.headers = CaseInsensitiveDict(answer.headers)
    response.encoding = get_encoding_from_headers(response.headers)
    response.url = answer.url
    response.request = request
    response.raw = _Raw(body, answer)
    extract_cookies_to_jar(response.cookies, request, response.raw)
    _ = response.content  # read now, since the connection is closed already
    return response


class _Raw(BytesIO):
    """The body, with the headers where `requests` looks for cookies."""

    def __init__(self, body: bytes, answer: Answer) -> None:
        super().__init__(body)
        message = Message()
        for name, value in answer.pairs:
            message[name] = value
        self._original_response = SimpleNamespace(msg=message)


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
