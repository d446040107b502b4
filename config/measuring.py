"""What stands before every app: an id for each request, and a count of how it was answered."""

from time import perf_counter

from config.lingering import App, Message, Receive, Send
from config.middleware import id_for
from knowledge.monitoring.logs import request_id
from knowledge.monitoring.metrics import HTTP_REQUESTS, HTTP_SECONDS

ROUTE = "quarry.route"
"""Where in its scope the app that answers a request leaves the template of its route."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CLIENT_LEFT = 499


class Measured:
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


def _give_id(scope: Message) -> str:
    """The caller's id or a new one, in the header where every app behind this looks for it."""
    others = [(name, value) for name, value in scope["headers"] if name != b"x-request-id"]
    given = dict(scope["headers"]).get(b"x-request-id", b"")
    chosen = id_for(given.decode("latin-1"))
    scope["headers"] = [*others, (b"x-request-id", chosen.encode())]
    return chosen


def _count(scope: Message, status: int, seconds: float) -> None:
    method = scope["method"] if scope["method"] in _METHODS else "other"
    route = scope.get(ROUTE, "other")  # a static file, or an address that leads nowhere
    HTTP_REQUESTS.labels(method, route, str(status)).inc()
    HTTP_SECONDS.labels(method, route).observe(seconds)
