"""The ASGI app in front of REST: it knows who calls before it reads a body or takes a thread.

Django spools a body whole before any view can ask for a token.
"""

import logging
from time import monotonic
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from django.db import DatabaseError
from django.urls import Resolver404, resolve

from knowledge.api.asgi import (
    SMALL_BODY,
    App,
    ClientLeft,
    Message,
    Receive,
    Send,
    SpooledBody,
    TooLarge,
    TooSlow,
    declared_length,
    has_body,
    headers_of,
)
from knowledge.api.import_gate import receive_empty_body
from knowledge.api.upload_app import in_thread
from knowledge.budgets import body_budget
from knowledge.errors import InternalError, InvalidInput, PayloadTooLarge, QuarryError
from tokens.authentication import authenticate, secret_from_header
from tokens.call_slots import CallSlots, Slot
from tokens.models import Token
from tokens.rest import REFUSAL, TOKEN, BearerAuthentication, ask_of

logger = logging.getLogger(__name__)

PREFIX = "/api/v1/"
FRESH_SECONDS = 1
"""A call that waited longer has its token looked up again: it may be revoked by then."""


def takes_token(scope: Message) -> bool:
    """Whether this request is for a view that tokens call."""
    return scope["type"] == "http" and scope["path"].startswith(PREFIX) and _has_bearer(scope)


class RestGate:
    """Authenticates from the headers, then reads the body, then lets so many calls run at once.

    Whatever is refused here is refused by the view, with all that its refusals carry.
    """

    def __init__(self, app: App, slots: CallSlots) -> None:
        self.app = app
        self.slots = slots

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        # Django stays in the thread of the context that it finds.
        async with ThreadSensitiveContext():
            body: SpooledBody | None = None
            slot: Slot | None = None
            try:
                token: Token = await in_thread(_look_up, scope)
                looked_up = monotonic()
                body = await self._read_body(scope, receive, token)
                lane = self.slots.lane_of(ask_of(_view_of(scope), scope["method"]))
                slot = await lane.take(token)
                if monotonic() - looked_up < FRESH_SECONDS:
                    scope[TOKEN] = token
                if body:
                    body.set_length(scope)
                    receive = body.replay(receive)
                await self.app(scope, receive, _releasing(slot, send))
            except QuarryError as error:
                scope[REFUSAL] = error
                await self.app(scope, receive_empty_body(receive), send)
            except ClientLeft:
                return
            finally:
                if slot:
                    slot.release()
                if body:
                    body.close()

    async def _read_body(
        self, scope: Message, receive: Receive, token: Token
    ) -> SpooledBody | None:
        if not has_body(scope):
            return None
        length = declared_length(scope)
        most = body_budget(scope["path"]).most
        try:
            if length is not None and length <= SMALL_BODY:
                return await SpooledBody.read(scope, receive, max_bytes=most)
            async with self.slots.bodies.hold(token):
                return await SpooledBody.read(scope, receive, max_bytes=most)
        except TooLarge:
            raise PayloadTooLarge(
                f"The body may have at most {most:,} bytes.", max_bytes=most
            ) from None
        except TooSlow as error:
            raise InvalidInput(str(error), field="body") from None


def _look_up(scope: Message) -> Token:
    try:
        return authenticate(secret_from_header(headers_of(scope).get("authorization")))
    except DatabaseError:
        logger.exception("A token could not be checked")
        told = "Something went wrong here; try again, then tell the operator."
        raise InternalError(told) from None


def _view_of(scope: Message) -> Any:
    try:
        return getattr(resolve(scope["path"]).func, "cls", None)
    except Resolver404:
        return None


def _has_bearer(scope: Message) -> bool:
    return BearerAuthentication in getattr(_view_of(scope), "authentication_classes", ())


def _releasing(slot: Slot, send: Send) -> Send:
    """Give the place back once the answer begins: from there on, only its reader is waited for."""

    async def send_and_release(message: Message) -> None:
        slot.release()
        await send(message)

    return send_and_release
