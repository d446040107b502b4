"""The record of what each token did: the ask, its target, how it ended and how long it took."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from knowledge.asks import Ask
from knowledge.monitoring.metrics import CALL_SECONDS, CALLS
from knowledge.validation import as_moment, within
from tokens.event_log import NewEvent, log
from tokens.models import Event, Token

MAX_PAGE = 1_000_000
MAX_PER_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """How the record is narrowed; what is left None does not narrow."""

    since: str | datetime | None = None
    outcome: str | None = None
    ask: str | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of the record, and how long the whole of it is."""

    events: list[Event]
    total: int
    page: int
    per_page: int


def list_events(
    owner_id: int,
    token_id: UUID | None,
    filters: EventFilter,
    *,
    page: int = 1,
    per_page: int = 20,
) -> EventPage:
    """What one of the owner's tokens did or, without one, what all of them did; newest first."""
    log.flush()  # so that a caller finds what it has just done
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    events = Event.objects.filter(owner_id=owner_id)
    if token_id is not None:
        events = events.filter(token_id=token_id)
    if filters.since is not None:
        events = events.filter(at__gte=as_moment(filters.since, field="since"))
    if filters.outcome is not None:
        events = events.filter(outcome=filters.outcome)
    if filters.ask is not None:
        events = events.filter(action=filters.ask)
    start = (page - 1) * per_page
    rows = events.order_by("-at", "-pk")[start : start + per_page]
    return EventPage(list(rows), events.count(), page, per_page)


def record(
    token: Token,
    *,
    edge: str,
    action: str,
    outcome: str,
    latency_ms: float,
    target: str = "",
    request_id: str = "",
) -> None:
    """Record one event. A caller whose work is done must not see it fail over its record."""
    CALLS.labels(edge, action, outcome).inc()
    CALL_SECONDS.labels(edge, action).observe(latency_ms / 1000)
    log.add(
        NewEvent(
            token_id=token.pk,
            owner_id=token.owner_id,
            edge=edge,
            action=str(action),
            target=target[:60],
            outcome=outcome,
            latency_ms=round(latency_ms),
            request_id=request_id,
            at=timezone.now(),
        )
    )


def target_of(ask: Ask, named: Mapping[str, Any], answered: Mapping[str, Any]) -> str:
    """What the call named or made: only identifiers go into the record, never words."""
    values = (given[name] for given in (named, answered) for name in ask.about if given.get(name))
    try:
        return str(UUID(str(next(values, ""))))
    except ValueError:
        return ""
