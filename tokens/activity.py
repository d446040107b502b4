"""The record of what each token did: the ask, its target, how it ended and how long it took."""

import logging

from django.db import DatabaseError

from tokens.models import Event, Token

logger = logging.getLogger(__name__)


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
    """Write one event. A caller whose work is done must not see it fail over its record."""
    try:
        Event.objects.create(
            token=token,
            owner_id=token.owner_id,
            edge=edge,
            action=action,
            target=target[:60],
            outcome=outcome,
            latency_ms=round(latency_ms),
            request_id=request_id,
        )
    except DatabaseError:
        logger.exception("An event of token %s could not be recorded", token.pk)
