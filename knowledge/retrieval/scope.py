"""What a search may touch: the items behind the one door, narrowed by what the caller asked."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet

from knowledge.access import Access
from knowledge.errors import NotFound
from knowledge.models import Folder, Item, ItemType
from knowledge.validation import as_moment, clean_tags, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """A caller's own limits on a search; they can only take away."""

    folder_id: UUID | None = None
    types: Collection[str] = ()
    tags: Collection[str] = ()
    since: str | datetime | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The searchable items as SQL for `item_id = ANY(ARRAY(…))`, and whose they are."""

    owner_id: int
    items_sql: str
    params: dict[str, Any]


def scope_of(access: Access, narrowing: Narrowing) -> Scope:
    """The one door, narrowed, in the form that the search statements take."""
    items = Item.objects.visible_to(access).filter(in_kb=True, archived=False)
    if narrowing.folder_id is not None:
        folder = Folder.objects.visible_to(access).filter(pk=narrowing.folder_id).first()
        if folder is None:
            raise NotFound("No such folder, or it is out of this token's reach.")
        items = items.filter(folders=folder)
    if narrowing.types:
        types = [one_of(name, ItemType.values, field="types") for name in narrowing.types]
        items = items.filter(type__in=types)
    if narrowing.tags:
        items = items.filter(tags__contains=clean_tags(narrowing.tags))
    if narrowing.since is not None:
        items = items.filter(created_at__gte=as_moment(narrowing.since, field="since"))
    try:
        sql, values = items.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        sql, values = "SELECT NULL::uuid WHERE false", ()
    names = [f"scope_{n}" for n in range(len(values))]
    named_sql = sql % tuple(f"%({name})s" for name in names)
    return Scope(access.owner_id, named_sql, dict(zip(names, values, strict=True)))
