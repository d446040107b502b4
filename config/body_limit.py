"""Django spools a request's whole body before any view sees it; this stops what is too large."""

from contextlib import AsyncExitStack

from console.sessions import person_of
from knowledge.api import asgi
from knowledge.api.asgi import PERSON, App, Message, Receive, Send, SpooledBody
from knowledge.api.threads import LOOKUPS, threads_for
from knowledge.api.upload_app import send_error
from knowledge.budgets import body_budget
from knowledge.errors import Busy, InvalidInput, PayloadTooLarge
from tokens.lanes import Lane, Visitor


class BodyLimit:
    """Takes a large body of people who are signed in, a few at once, and a small one of anybody.

    Answers 413 in the envelope of every other error, having read no more than the limit.
    """

    def __init__(
        self,
        app: App,
        bodies: Lane,
        *,
        limit: int | None = None,
        strangers_limit: int = asgi.SMALL_BODY,
        seconds: int = asgi.BODY_SEC,
    ) -> None:
        """The limit is that of the path, unless one is given for all."""
        self.app = app
        self.bodies = bodies
        self.limit = limit
        self.strangers_limit = strangers_limit
        self.seconds = seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not asgi.has_body(scope):
            await self.app(scope, receive, send)
            return
        most = self.limit or body_budget(scope["path"]).most
        limit = await self._limit_for(scope, most)
        try:
            body = await self._read(scope, receive, limit)
        except Busy as error:
            await send_error(error, scope, send)
        except asgi.TooLarge:
            told = f"The body may have at most {limit:,} bytes."
            if limit < most:
                told = f"Without signing in, a body may have at most {limit:,} bytes."
            await send_error(PayloadTooLarge(told, max_bytes=limit), scope, send)
        except asgi.TooSlow as error:
            await send_error(InvalidInput(str(error), field="body"), scope, send)
        except asgi.ClientLeft:
            return
        else:
            try:
                body.attach_to(scope)
                await self.app(scope, receive, send)
            finally:
                body.close()

    async def _read(self, scope: Message, receive: Receive, limit: int) -> SpooledBody:
        async with AsyncExitStack() as stack:
            if person_id := scope.get(PERSON):
                await stack.enter_async_context(self.bodies.hold(Visitor(person_id, "pages")))
            return await SpooledBody.read(scope, receive, max_bytes=limit, seconds=self.seconds)

    async def _limit_for(self, scope: Message, most: int) -> int:
        length = asgi.declared_length(scope)
        if length is not None and length <= self.strangers_limit:
            return self.strangers_limit
        scope[PERSON] = await threads_for(LOOKUPS).run(person_of, scope)
        return self.strangers_limit if scope[PERSON] is None else most
