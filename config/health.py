"""Whether this process lives, and whether it can do its work."""

from typing import Any

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

from knowledge.api.asgi import Message, Receive, Send, send_json
from knowledge.api.threads import HEALTH, threads_for
from knowledge.maintenance.tables import has_every_table
from knowledge.monitoring.logs import request_id

_ALIVE = {"status": "ok"}


def is_livez(scope: Message) -> bool:
    """Whether this request asks whether the process lives."""
    return _is_asked(scope, "/livez")


def is_readyz(scope: Message) -> bool:
    """Whether this request asks whether the process can do its work."""
    return _is_asked(scope, "/readyz")


async def send_alive(scope: Message, receive: Receive, send: Send) -> None:
    """Say that this process lives, without a thread, for which busy calls might leave no time."""
    await send_json(send, 200, _ALIVE, {"x-request-id": request_id.get()})


async def send_readiness(scope: Message, receive: Receive, send: Send) -> None:
    """Say whether this process can work, on a thread that nothing else may take."""
    status, answer = await threads_for(HEALTH).run(check_readiness)
    await send_json(send, status, answer, {"x-request-id": request_id.get()})


def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse(_ALIVE)


def readyz(request: HttpRequest) -> JsonResponse:
    status, answer = check_readiness()
    return JsonResponse(answer, status=status)


def check_readiness() -> tuple[int, dict[str, Any]]:
    """Ready once the database answers and is migrated."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT")
        if not has_every_table():
            return 503, {"status": "unavailable", "database": "not migrated"}
    except DatabaseError:
        return 503, {"status": "unavailable", "database": "no answer"}
    return 200, _ALIVE


def _is_asked(scope: Message, path: str) -> bool:
    is_http: bool = scope["type"] == "http"
    return is_http and scope["path"] == path and scope["method"] in ("GET", "HEAD")
