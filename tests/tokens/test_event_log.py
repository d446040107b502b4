"""The activity log's way into its table: at once, or in batches that lose nothing."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from tests.support.library import Mint
from tokens import event_log
from tokens.event_log import EventLog, NewEvent
from tokens.models import Event


def event(action: str = "search", **changed: Any) -> NewEvent:
    given: dict[str, Any] = {"token_id": uuid4(), "owner_id": 0, "edge": "mcp", "target": ""}
    given |= {"outcome": "ok", "latency_ms": 1, "request_id": ""}
    given |= {"at": timezone.now(), "action": action}
    return NewEvent(**given | changed)


def test_without_a_batch_an_event_is_written_at_once(mint: Mint, owner: User) -> None:
    token = mint().row
    log = EventLog()
    log.add(event("kept", token_id=token.pk, owner_id=owner.pk))
    log.add(event("orphan", owner_id=owner.pk))
    log.add(event("nobody's", owner_id=owner.pk + 1_000_000))
    rows = Event.objects.order_by("pk").values_list("action", "token_id", "owner_id")
    assert list(rows) == [("kept", token.pk, owner.pk), ("orphan", None, owner.pk)]


@pytest.mark.django_db
def test_a_batch_writes_each_event_once_and_tries_again_what_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []
    failures: list[Exception] = [InterfaceError("closed"), DatabaseError("away")]

    def write(events: list[NewEvent]) -> None:
        if failures:
            raise failures.pop()
        if not written:
            log.add(event("late"))  # by a call that ends while the last ones are written
        written.extend(each.action for each in events)

    monkeypatch.setattr(event_log, "_write", write)
    monkeypatch.setattr(event_log, "close_old_connections", lambda: None)
    log = EventLog()
    with log.batch():
        log.add(event("one"))
        log.flush()
        log.add(event("two"))
    assert written == ["one", "two", "late"]
