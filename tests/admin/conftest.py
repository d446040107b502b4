from collections.abc import Callable
from datetime import date

import pytest
from django.contrib.auth.models import Group, User

from knowledge.access import Access
from knowledge.library import ItemChanges, update_item
from knowledge.models import Content, Folder, Item, Job, Usage
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
        author=HOSTILE, error=HOSTILE, canonical_url=f"javascript:{HOSTILE}"
    )
    token = mint(shelf).row
    type(token).objects.filter(pk=token.pk).update(name=HOSTILE, agent_id=HOSTILE)
    record(token, edge="mcp", action=HOSTILE, outcome=HOSTILE, target=HOSTILE, latency_ms=5)
    Job.objects.create(queue="q", actor=HOSTILE, message=HOSTILE.encode(), error=HOSTILE)
    Usage.objects.create(owner=owner, month=date(2026, 1, 1), transcription_sec_used=90)
    User.objects.create_user("mallory", email="m@example.org", first_name=HOSTILE)
    Group.objects.create(name=HOSTILE)
    return item
