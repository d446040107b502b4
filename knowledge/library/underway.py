"""What is on its way into a library, and what did not arrive: for a page that shows it live."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.models import ContentState, Item

FAILURES_SHOWN_FOR = timedelta(days=7)
MOST_SHOWN = 50

_AT_WORK = Q(content__state__in=(ContentState.QUEUED, ContentState.WORKING))


def list_underway(access: Access) -> list[Item]:
    """The caller's items whose text is still to come, and those that failed lately."""
    access.require(Capability.READ)
    lately = timezone.now() - FAILURES_SHOWN_FOR
    failed = Q(content__state=ContentState.FAILED, updated_at__gte=lately)
    items = Item.objects.visible_to(access).filter(_AT_WORK | failed)
    shown = items.select_related("content").defer("content__text", "content__locators")
    return list(shown.newest_first()[:MOST_SHOWN])
