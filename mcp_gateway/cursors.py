"""Cursors: where a listing goes on, in a form that callers hand back and do not read."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from uuid import UUID

from knowledge.errors import InvalidInput
from knowledge.library.items import Place, Recent


def cursor_after(recent: Recent) -> str | None:
    """The cursor for what follows these items, if anything does."""
    if not recent.has_more:
        return None
    last = recent.items[-1]
    place = json.dumps([last.created_at.isoformat(), last.pk.hex])
    return urlsafe_b64encode(place.encode()).decode().rstrip("=")


def place_of(cursor: str | None) -> Place | None:
    """The place that a cursor names; it can only narrow what the caller sees anyway."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        created_at, item_id = json.loads(urlsafe_b64decode(padded))
        moment = datetime.fromisoformat(created_at)
        if moment.tzinfo is None:
            raise ValueError
        return moment, UUID(item_id)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InvalidInput(
            "cursor must be the next_cursor of the page before; leave it out to begin anew.",
            field="cursor",
        ) from None
