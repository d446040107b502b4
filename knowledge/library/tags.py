"""The words that a library is tagged with."""

from django.db.models import Count, F, Func

from knowledge.access import Access, Capability
from knowledge.models import Item


def common_tags(access: Access, *, limit: int = 100) -> list[str]:
    """The tags that most items have, out of what the caller may see."""
    access.require(Capability.READ)
    items = Item.objects.visible_to(access).filter(archived=False).exclude(tags=[])
    tags = items.annotate(tag=Func(F("tags"), function="unnest")).values("tag")
    counted = tags.annotate(count=Count("pk")).order_by("-count", "tag")
    return list(counted.values_list("tag", flat=True)[:limit])
