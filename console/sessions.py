"""Who is signed in, for the ASGI apps that stand beside Django."""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, parse_cookie

from knowledge.api.asgi import Message, headers_of


def person_of(scope: Message) -> int | None:
    """The id of the person whose session a request belongs to; None if there is none."""
    key = parse_cookie(headers_of(scope).get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    if not key:
        return None
    engine: Any = import_module(settings.SESSION_ENGINE)
    request = HttpRequest()
    request.session = engine.SessionStore(key)
    user = get_user(request)
    return user.pk if user.is_authenticated else None
