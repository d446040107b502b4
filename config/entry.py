"""What every request passes first: it gets an id, is counted, and goes to the app that answers."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from django.conf import settings

from knowledge.api.asgi import App, Message, Receive, Send, address_key, has_body, request_id_for
from knowledge.api.upload_app import send_error
from knowledge.errors import Busy
from knowledge.monitoring.logs import request_id
from knowledge.monitoring.metrics import HTTP_REQUESTS, HTTP_SECONDS

ROUTE = "quarry.route"
"""Where in its scope the app that answers a request leaves the template of its route."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CLIENT_LEFT = 499

MAX_BYTES = 100 * 1024 * 1024
SECONDS = 15
"""Whoever sends more, or takes longer, may see a reset in place of the answer."""


class RequestMetrics:
    """Counts requests by method, template of the route and status, and gives logs their id."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id.set(_give_id(scope))
        started = perf_counter()
        status = _CLIENT_LEFT

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception:
            status = 500
            raise
        finally:
            _count(scope, status, perf_counter() - started)


class RequestsPerAddress:
    """Refuses what one address asks beyond its share of requests in progress.

    Behind a trusted proxy this is what connections are elsewhere; uvicorn has put the address that
    the proxy forwards in the scope.
    """

    def __init__(self, app: App) -> None:
        self.app = app
        self._in_progress: Counter[str] = Counter()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope.get("client"):
            await self.app(scope, receive, send)
            return
        address = address_key(scope["client"][0])
        if self._in_progress[address] >= settings.QUARRY_CONNECTIONS_PER_ADDRESS:
            error = Busy("Too many requests of this address are in progress; try again shortly.")
            await send_error(error, scope, send)
            return
        self._in_progress[address] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._in_progress[address] -= 1
            if not self._in_progress[address]:
                del self._in_progress[address]


class Route(NamedTuple):
    """An app, and which requests it answers."""

    matches: Callable[[Message], bool]
    app: App
    template: str = ""
    """The route's template for the metrics, unless the app leaves it itself."""


class Routes:
    """Hands each request to the first app that answers such."""

    def __init__(self, *routes: Route) -> None:
        self.routes = routes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        route = next(route for route in self.routes if route.matches(scope))
        if route.template:
            scope[ROUTE] = route.template
        await route.app(scope, receive, send)


class DrainBody:
    """Reads and drops the rest of a body after an early answer, within bounds, then closes.

    Reads a request's unread body, so that a client that is still sending gets its answer. A
    server that closes its socket while bytes lie unread in it sends a reset, upon which the client
    drops the answer that it has not read yet. RFC 9112, 9.6: answer, go on reading, then close.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        await self.app(scope, exchange.receive, exchange.send)


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_read = False
        # It waits for our word before it sends anything, and an early answer is that word.
        self._is_unsent = b"expect" in dict(scope["headers"])

    async def receive(self) -> Message:
        self._is_unsent = False
        message = await self._receive()
        self._is_read = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if self._is_read:
            await self._send(message)
        elif message["type"] == "http.response.start":
            headers = [*message.get("headers", []), (b"connection", b"close")]
            await self._send({**message, "headers": headers})
        elif message.get("more_body", False):
            await self._send(message)
        else:
            await self._send({**message, "more_body": True})
            await self._drain()
            await self._send({"type": "http.response.body", "body": b""})

    async def _drain(self) -> None:
        dropped = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                while not (self._is_read or self._is_unsent) and dropped < MAX_BYTES:
                    dropped += len((await self.receive()).get("body", b""))


def _give_id(scope: Message) -> str:
    """The caller's id or a new one, in the header where every app behind this looks for it."""
    others = [(name, value) for name, value in scope["headers"] if name != b"x-request-id"]
    given = dict(scope["headers"]).get(b"x-request-id", b"")
    chosen = request_id_for(given.decode("latin-1"))
    scope["headers"] = [*others, (b"x-request-id", chosen.encode())]
    return chosen


def _count(scope: Message, status: int, seconds: float) -> None:
    method = scope["method"] if scope["method"] in _METHODS else "other"
    route = scope.get(ROUTE, "other")  # a static file, or an address that leads nowhere
    HTTP_REQUESTS.labels(method, route, str(status)).inc()
    HTTP_SECONDS.labels(method, route).observe(seconds)
