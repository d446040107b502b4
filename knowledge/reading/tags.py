"""Tags as they are typed: those in use are suggested."""

from uuid import UUID

from django.db.models import Count, F, Func

from knowledge.access import Access, Capability
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import visible_item
from knowledge.models import Item


def suggest_tags(access: Access, beginning: str = "", *, limit: int = 20) -> list[str]:
    """The tags of what the caller sees that begin like this, the most used first."""
    access.require(Capability.READ)
    each = Item.objects.visible_to(access).annotate(tag=Func(F("tags"), function="unnest"))
    counts = each.values("tag").annotate(uses=Count("pk")).order_by("-uses", "tag")
    # In Python, because a set-returning function cannot stand in a condition.
    wanted = beginning.strip().casefold()
    tags = (tag for tag, _ in counts.values_list("tag", "uses"))
    return [tag for tag in tags if tag.casefold().startswith(wanted)][:limit]


def add_tags(access: Access, item_id: UUID, tags: list[str]) -> Item:
    """Give an item more tags; those that it has stay."""
    item = visible_item(access, item_id)
    return update_item(access, item_id, ItemChanges(tags=[*item.tags, *tags]))
