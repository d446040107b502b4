"""The ASGI app in front of REST: it knows who calls before it reads a body or takes a thread.

Django spools a body whole before any view can ask for a token.
"""

import logging
from functools import lru_cache
from time import monotonic
from typing import Any

from django.db import DatabaseError
from django.urls import Resolver404, ResolverMatch, resolve

from knowledge.api import asgi
from knowledge.api.asgi import MATCH, SMALL_BODY, App, Message, Receive, Send, SpooledBody
from knowledge.api.import_gate import receive_empty_body
from knowledge.api.threads import LOOKUPS, threads_for
from knowledge.api.upload_app import send_error
from knowledge.budgets import body_budget
from knowledge.errors import (
    Busy,
    InternalError,
    InvalidInput,
    MissingToken,
    PayloadTooLarge,
    QuarryError,
)
from knowledge.monitoring.turns import take_turn
from tokens.authentication import authenticate, refuse_malformed, secret_from_header
from tokens.call_slots import CallPlaces, CallSlots
from tokens.lanes import Visitor, release_at_answer
from tokens.models import Token
from tokens.rest import REFUSAL, TOKEN, BearerAuthentication, ask_of

logger = logging.getLogger(__name__)

PREFIX = "/api/v1/"
FRESH_SECONDS = 1
"""A call that waited longer has its token looked up again: it may be revoked by then."""
LONGEST_KNOWN_PATH = 200
"""Routes of longer paths, of which strangers could send many, are looked for each time."""


def takes_token(scope: Message) -> bool:
    """Whether this request is for a view that tokens call."""
    return scope["type"] == "http" and scope["path"].startswith(PREFIX) and _has_bearer(scope)


class RestGate:
    """Authenticates from the headers, then reads the body, then lets so many calls run at once.

    Whatever is refused here is refused by the view, with all that its refusals carry.
    """

    def __init__(self, app: App, slots: CallSlots, *, refusals: App, people: App) -> None:
        """`people` answers what comes without a token: it may be a person who is signed in.

        `refusals` answers what comes with a wrong one, which takes no time and no database.
        """
        self.app = app
        self.refusals = refusals
        self.people = people
        self.slots = slots

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        body: SpooledBody | None = None
        places: CallPlaces | None = None
        try:
            secret = secret_from_header(asgi.headers_of(scope).get("authorization"))
            refuse_malformed(secret)
            token = await threads_for(LOOKUPS).run(_look_up, secret)
            looked_up = monotonic()
            body = await self._read_body(scope, receive, token)
            ask = ask_of(_view_of(scope), scope["method"])
            length = body.size if body else 0
            places = await self.slots.take(token, ask, length=length, receive=receive)
            if monotonic() - looked_up < FRESH_SECONDS:
                scope[TOKEN] = token
            if body:
                body.attach_to(scope)
            with take_turn(places.turn):
                await self.app(scope, receive, release_at_answer(places.release, send))
        except QuarryError as error:
            scope[REFUSAL] = error
            app = self.people if isinstance(error, MissingToken) else self.refusals
            await self._refuse(app, scope, receive, send)
        except asgi.ClientLeft:
            return
        finally:
            if places:
                places.release()
            if body:
                body.close()

    async def _refuse(self, app: App, scope: Message, receive: Receive, send: Send) -> None:
        """By the view, of each address one call at a time: a refusal has no place of its own."""
        address = asgi.address_key(scope["client"][0]) if scope.get("client") else ""
        try:
            slot = await self.slots.refusals.take(Visitor(address, ""), receive)
        except asgi.ClientLeft:
            return
        except Busy as busy:
            await send_error(busy, scope, send)
            return
        try:
            await app(scope, receive_empty_body(receive), slot.release_at_answer(send))
        finally:
            slot.release()

    async def _read_body(
        self, scope: Message, receive: Receive, token: Token
    ) -> SpooledBody | None:
        if not asgi.has_body(scope):
            return None
        length = asgi.declared_length(scope)
        most = body_budget(scope["path"]).most
        try:
            if length is not None and length <= SMALL_BODY:
                return await SpooledBody.read(scope, receive, max_bytes=most)
            async with self.slots.bodies.hold(token):
                return await SpooledBody.read(scope, receive, max_bytes=most)
        except asgi.TooLarge:
            raise PayloadTooLarge(
                f"The body may have at most {most:,} bytes.", max_bytes=most
            ) from None
        except asgi.TooSlow as error:
            raise InvalidInput(str(error), field="body") from None


def _look_up(secret: str) -> Token:
    try:
        return authenticate(secret)
    except DatabaseError:
        logger.exception("A token could not be checked")
        told = "Something went wrong here; try again, then tell the operator."
        raise InternalError(told) from None


def _view_of(scope: Message) -> Any:
    """The class of the view; its route is found once for each request."""
    if MATCH not in scope:
        path = scope["path"]
        scope[MATCH] = (
            _find_known_route(path) if len(path) <= LONGEST_KNOWN_PATH else _find_route(path)
        )
    return getattr(scope[MATCH] and scope[MATCH].func, "cls", None)


def _find_route(path: str) -> ResolverMatch | None:
    try:
        return resolve(path)
    except Resolver404:
        return None


_find_known_route = lru_cache(maxsize=2_000)(_find_route)


def _has_bearer(scope: Message) -> bool:
    return BearerAuthentication in getattr(_view_of(scope), "authentication_classes", ())
