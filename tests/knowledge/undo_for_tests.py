"""A whole library as data, and an agent's hour in it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model
from django.utils import timezone

from knowledge.access import Access
from knowledge.changes import as_data
from knowledge.ingestion import add_text
from knowledge.library import (
    ItemChanges,
    create_folder,
    delete_folder,
    delete_item,
    file_item,
    rename_folder,
    unfile_item,
    update_item,
)
from knowledge.models import (
    Chunk,
    ChunkEmbedding,
    ChunkText,
    Content,
    Filing,
    Folder,
    Item,
    LibrarySize,
    Link,
    Transform,
    Upload,
    Webhook,
)
from knowledge.undo import Undone, preview, undo
from knowledge.webhooks import create_webhook, delete_webhook, update_webhook
from tests.conftest import LONG_ENOUGH, Minted

KEPT: tuple[type[Model], ...] = (
    *(Folder, Content, Link, Item, Filing, Transform, Upload, Webhook, LibrarySize),
)


def snapshot() -> dict[str, Any]:
    """Every row of every library; of chunks what they say, for their ids are new each time."""
    rows: dict[str, Any] = {
        model.__name__: sorted(map(_row, model._default_manager.all()), key=str) for model in KEPT
    }
    rows["Chunk"] = sorted(
        Chunk.objects.values_list(
            "item_id", "owner_id", "position", "start", "end", "heading_path", "text", "locator"
        ),
        key=str,
    )
    texts = ChunkText.objects.values_list("item_id", "chunk__position", "tsv", "length")
    rows["ChunkText"] = sorted(texts, key=str)
    vectors = ChunkEmbedding.objects.values_list("item_id", "chunk__position", "generation_id")
    rows["ChunkEmbedding"] = sorted(vectors, key=str)
    return rows


def _row(row: Model) -> dict[str, Any]:
    """A row without the time of its last change: undoing is a change too."""
    return {name: value for name, value in as_data(row).items() if name != "updated_at"}


def an_hour_ago() -> datetime:
    return timezone.now() - timedelta(hours=1)


def undo_all(token: Minted) -> Undone:
    return undo(token.row.owner_id, token.row.pk, since=an_hour_ago())


def preview_all(token: Minted) -> Undone:
    return preview(token.row.owner_id, token.row.pk, since=an_hour_ago())


def added(access: Access, title: str, **how: Any) -> Item:
    return add_text(access, title=title, text=title + LONG_ENOUGH, **how)


def agents_hour(agent: Access, item: Callable[[str], Item], folder: Callable[[str], Folder]) -> int:
    """Everything that an agent with the whole library can write; answers how many writes."""
    shelf, attic, cellar = folder("Shelf"), folder("Attic"), folder("Cellar")
    one, two, three = item("One"), item("Two"), item("Three")
    new_shelf = create_folder(agent, "New")
    mine = added(agent, "Mine", tags=["own"])
    file_item(agent, mine.pk, [new_shelf.pk, shelf.pk])
    update_item(agent, mine.pk, ItemChanges(title="Mine, renamed", archived=True))
    update_item(agent, one.pk, ItemChanges(title="Spoilt", tags=["spam"], visibility="network"))
    update_item(agent, one.pk, ItemChanges(title="Spoilt again"))
    update_item(agent, two.pk, ItemChanges(in_kb=False))
    file_item(agent, two.pk, [new_shelf.pk])
    unfile_item(agent, one.pk, shelf.pk)
    rename_folder(agent, new_shelf.pk, "Newer")
    rename_folder(agent, shelf.pk, "Pile")
    delete_item(agent, three.pk)
    delete_item(agent, added(agent, "Soon gone").pk)
    delete_folder(agent, attic.pk)
    delete_folder(agent, cellar.pk, cascade_items=True)
    hook = create_webhook(agent, "https://example.org/hook")
    update_webhook(agent, hook.pk, url=hook.url, events=["item.ready"], is_active=True)
    for kept in list(Webhook.objects.exclude(pk=hook.pk)):
        delete_webhook(agent, kept.pk)
    return 20
