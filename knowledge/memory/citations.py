"""Where a person finds an item that an agent cites."""

from uuid import UUID

from django.conf import settings
from django.urls import reverse


def address_of(item_id: UUID, source_url: str | None) -> str:
    """The source's address, else the item's page, else its resource: never nothing."""
    if source_url and source_url.startswith(("http://", "https://")):
        return source_url
    if settings.QUARRY_PUBLIC_URL:
        page = reverse("admin:knowledge_item_change", args=[item_id])
        return f"{settings.QUARRY_PUBLIC_URL}{page}"
    return f"quarry://items/{item_id}"
