"""How many pages are made at once: of one person, of one address, and of everybody."""

from collections import OrderedDict

from django.conf import settings
from django.contrib import messages
from django.contrib.messages.storage.base import Message as Told
from django.http import parse_cookie
from django.template.loader import render_to_string

from knowledge.api.asgi import (
    PERSON,
    App,
    ClientLeft,
    Message,
    Receive,
    Send,
    address_key,
    headers_of,
    request_id_for,
)
from knowledge.api.upload_app import send_error
from knowledge.errors import Busy
from tokens.lanes import Bounds, Lane, Visitor

WAIT_SEC = 10.0
WAITING = 64
"""How many requests of a person may wait: a browser asks for many parts of a page at once."""
SESSIONS_KNOWN = 10_000


class PageGate:
    """Takes a place for each page while it is made; turns are taken between people.

    Whose session it is, is known once a page has been made for it: to look it up before would cost
    a stranger nothing and us a query. Until then, and without one, an address counts as a person.
    """

    def __init__(self, app: App) -> None:
        self.app = app
        total = settings.THREADS["pages"]
        most = max(1, total - 1)
        self.lane = Lane(Bounds(total, most, most, WAIT_SEC, waiting_per_owner=WAITING))
        self._people: OrderedDict[str, int] = OrderedDict()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        session = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME, "")
        address = address_key(scope["client"][0]) if scope.get("client") else ""
        person = scope.get(PERSON) or self._people.get(session)
        try:
            slot = await self.lane.take(Visitor(person or address, session), receive)
        except ClientLeft:
            return
        except Busy as error:
            await _send_busy(error, scope, headers, send)
            return
        try:
            await self.app(scope, receive, slot.release_at_answer(send))
        finally:
            slot.release()
            if session and scope.get(PERSON):
                self._remember(session, scope[PERSON])

    def _remember(self, session: str, person: int) -> None:
        self._people[session] = person
        self._people.move_to_end(session)
        if len(self._people) > SESSIONS_KNOWN:
            self._people.popitem(last=False)


async def _send_busy(error: Busy, scope: Message, headers: dict[str, str], send: Send) -> None:
    """As a page to a browser, as a message within one to its scripts, and to others as JSON."""
    is_part = "hx-request" in headers
    if not is_part and "text/html" not in headers.get("accept", ""):
        await send_error(error, scope, send)
        return
    is_sent = scope["method"] not in ("GET", "HEAD")
    again = "What you sent was not taken; send it again." if is_sent else "Try again in a moment."
    sentence = f"Many pages are being made at this moment. {again}"
    seconds = error.details["retry_after_sec"]
    told = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'",
        "cache-control": "no-store",
        "retry-after": str(seconds),
        "x-request-id": request_id_for(headers.get("x-request-id", "")),
    }
    if is_part:
        shown = {"messages": [Told(messages.ERROR, sentence)], "is_oob": True}
        body = render_to_string("console/parts/toasts.html", shown)
        told["hx-reswap"] = "none"
    else:
        body = render_to_string("busy.html", {"sentence": sentence, "reloads": not is_sent})
    raw = [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": 429, "headers": raw})
    await send({"type": "http.response.body", "body": body.encode()})
