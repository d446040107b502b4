"""A web app on the connection of its test, whose rows no other connection sees."""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from knowledge.api.threads import Threads


def share_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the test's own thread what runs on threads of its own, and keep its connection."""

    async def run(self: Threads, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(work)(*args, **kwargs)

    monkeypatch.setattr(Threads, "run", run)
    for moment in (request_started, request_finished):
        kept = [each for each in moment.receivers if each[0][0] != id(close_old_connections)]
        monkeypatch.setattr(moment, "receivers", kept)
        monkeypatch.setattr(moment, "sender_receivers_cache", {})
