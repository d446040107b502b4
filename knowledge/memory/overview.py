"""What a library remembers, by type."""

from django.db.models import Count

from knowledge.access import Access, Capability
from knowledge.models import MEMORY_TYPES, Item


def count_by_type(access: Access) -> dict[str, int]:
    """How many memories of each type the caller sees, without the archived."""
    access.require(Capability.READ)
    items = Item.objects.visible_to(access).filter(type__in=MEMORY_TYPES, archived=False)
    counts = dict(items.order_by().values_list("type").annotate(Count("pk")))
    return {str(each): counts.get(str(each), 0) for each in MEMORY_TYPES}
