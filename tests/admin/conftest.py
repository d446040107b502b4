from collections.abc import Callable
from datetime import date

import pytest
from django.contrib.auth.models import Group, User

from knowledge.access import Access
from knowledge.library import ItemChanges, update_item
from knowledge.models import (
    Allowance,
    Content,
    ContentState,
    Delivery,
    Folder,
    Item,
    Job,
    Link,
    Reservation,
    Tier,
    Transform,
    Upload,
    Usage,
    WebhookEvent,
)
from knowledge.uploads import begin_upload
from knowledge.webhooks import announce, create_webhook
from tests.conftest import Add, Mint
from tokens.activity import record

HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def full_house(
    owner: User, library: Access, add: Add, mint: Mint, folder: Callable[[str], Folder]
) -> Item:
    """A row of every kind, with markup wherever a person or an agent may write."""
    shelf = folder(f"Shelf {HOSTILE}")
    item = add(f"Title {HOSTILE}", f"Text {HOSTILE}", shelf)
    update_item(library, item.pk, ItemChanges(title=f"Own {HOSTILE}", tags=[HOSTILE]))
    Item.objects.filter(pk=item.pk).update(index_error=HOSTILE, added_by_agent=HOSTILE)
    Content.objects.filter(items=item).update(
        author=HOSTILE,
        canonical_url=f"javascript:{HOSTILE}",
        url=f"javascript:{HOSTILE}",
        media_url=f"javascript:{HOSTILE}",
        state=ContentState.FAILED,
        reason=HOSTILE,
        error=HOSTILE,
    )
    Link.objects.create(key=HOSTILE, content=item.content)
    token = mint(shelf).row
    type(token).objects.filter(pk=token.pk).update(name=HOSTILE, agent_id=HOSTILE)
    record(token, edge="mcp", action=HOSTILE, outcome=HOSTILE, target=HOSTILE, latency_ms=5)
    Job.objects.create(queue="q", actor=HOSTILE, message=HOSTILE.encode(), error=HOSTILE)
    Usage.objects.create(owner=owner, month=date(2026, 1, 1), transcription_sec_used=90)
    Allowance.objects.create(owner=owner, tier=Tier.objects.create(name=HOSTILE))
    Reservation.objects.create(
        owner=owner, content_id=item.content_id, month=date(2026, 1, 1), seconds=90
    )
    User.objects.create_user("mallory", email="m@example.org", first_name=HOSTILE)
    Group.objects.create(name=HOSTILE)
    begin_upload(library, filename="notes.txt", media_type="text/plain", size=5)
    Upload.objects.update(filename=HOSTILE, media_type=HOSTILE)
    create_webhook(library, f"https://example.org/{HOSTILE}")
    announce(WebhookEvent.ITEM_READY, Item.objects.get(pk=item.pk))
    Delivery.objects.update(answer=HOSTILE)
    Transform.objects.create(item=item, state="done", tldr=HOSTILE, key_points=[HOSTILE])
    return item
