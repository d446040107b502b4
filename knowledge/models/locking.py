"""The row locks of contents and items, and the one order in which they are taken.

Content before item, and contents by id, to avoid deadlock: a job locks a content and then every
item of it, so whoever locks an item first and then its content may wait for that job for ever.
"""

from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from knowledge.locks import Lock
from knowledge.models.content import Content
from knowledge.models.item import Item, ItemQuerySet


def lock_counted_rows(owner_id: int) -> None:
    """Keep others from adding rows of which an owner may have so many, until this commits.

    Taken before they are counted, or two calls would both find room for the last.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [Lock.COUNTED_ROWS, owner_id])


def lock_content(content_id: UUID) -> Content | None:
    """Lock a content until this transaction ends; None once it is gone."""
    return lock_contents(Content.objects.filter(pk=content_id)).first()


def lock_contents(contents: QuerySet[Content]) -> QuerySet[Content]:
    """Contents that are locked as they are read, by id."""
    # Not their keys too: whoever changes an item reads that on commit, with the item locked.
    return contents.select_for_update(no_key=True).order_by("pk")


def lock_contents_of(items: ItemQuerySet) -> None:
    """Lock the contents of all these items, which the caller locks next."""
    content_ids = set(items.values_list("content_id", flat=True))
    list(lock_contents(Content.objects.filter(pk__in=content_ids)).values_list("pk"))


def lock_item(items: ItemQuerySet, item_id: UUID) -> Item | None:
    """Lock an item's content, then the item; None if it is not, or no longer, among these."""
    item = items.filter(pk=item_id)
    content_id = item.values_list("content_id", flat=True).first()
    if content_id is None:
        return None
    lock_content(content_id)
    return item.select_for_update(of=("self",)).select_related("content").first()
