"""Memory as plain rows: many items and relations at once, without an index."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from knowledge.models import Content, Filing, Folder, Item, ItemType, Relation, RelationType

Edge = tuple[Item, Item]


def items_of(
    owner_id: int,
    titles: Iterable[str],
    *folders: Folder,
    type: str = ItemType.EPISODE,
    **more: Any,
) -> list[Item]:
    """An item for each title, in the order of their age."""
    contents = Content.objects.bulk_create(
        Content(owner_id=owner_id, title=title, text=f"{title} says so.") for title in titles
    )
    items = Item.objects.bulk_create(
        Item(owner_id=owner_id, content=content, type=type, **more) for content in contents
    )
    Filing.objects.bulk_create(
        Filing(item=item, folder=folder) for item in items for folder in folders
    )
    return items


def item_of(owner_id: int, title: str, *folders: Folder, **more: Any) -> Item:
    (item,) = items_of(owner_id, [title], *folders, **more)
    return item


def task_of(owner_id: int, title: str, *folders: Folder, status: str = "todo", **more: Any) -> Item:
    attributes = {"status": status, **more.pop("attributes", {})}
    return item_of(owner_id, title, *folders, type=ItemType.TASK, attributes=attributes, **more)


def related(
    *edges: Edge, type: str = RelationType.RELATED_TO, weight: float = 1.0, **more: Any
) -> list[Relation]:
    """A relation for each pair, from the first to the second."""
    return Relation.objects.bulk_create(
        Relation(
            owner_id=source.owner_id, source=source, target=target, type=type, weight=weight, **more
        )
        for source, target in edges
    )


def depending(*edges: Edge) -> list[Relation]:
    return related(*edges, type=RelationType.DEPENDS_ON)


def ids_of(items: Iterable[Item]) -> list[UUID]:
    return [item.pk for item in items]
