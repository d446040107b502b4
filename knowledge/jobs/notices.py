"""Tells an owner's open pages that something of theirs has changed, and never what."""

from enum import StrEnum
from uuid import UUID

from django.db import connection

from knowledge.models import Item

CHANNEL = "knowledge_notice"


class Topic(StrEnum):
    """What has changed; each page listens to those that it shows."""

    CONTENTS = "contents"
    ARRIVALS = "arrivals"
    SOURCES = "sources"


def tell_owner(owner_id: int, topic: Topic) -> None:
    """Notify when the caller's transaction commits; the same notice twice in one is sent once."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, f"{owner_id} {topic}"])


def tell_owners_of(content_id: UUID) -> None:
    """Notify everybody who has an item of a content."""
    items = Item.objects.filter(content_id=content_id).order_by()
    for owner_id in items.values_list("owner_id", flat=True).distinct():
        tell_owner(owner_id, Topic.CONTENTS)
