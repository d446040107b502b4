"""Items: created for a content, renewed when it is added again, filed, indexed and rewritten."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from knowledge.access import Access
from knowledge.indexing import pipeline, preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest import transforms
from knowledge.ingest.followups import announce, embed_item
from knowledge.ledger import changes
from knowledge.models import (
    Content,
    Filing,
    Folder,
    IndexStatus,
    Item,
    ItemType,
    Transform,
    TransformState,
    Visibility,
    WebhookEvent,
)
from knowledge.monitoring.metrics import INGESTED
from knowledge.text.languages import language_of

MAX_TITLE = 500
_RENEWED = ("archived", "in_kb", "custom_title", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOptions:
    """How a caller wants its item of a content."""

    title: str = ""
    in_kb: bool = True
    tags: tuple[str, ...] = ()
    auto_transform: bool = False
    type: ItemType = ItemType.DOCUMENT
    attributes: Mapping[str, Any] = field(default_factory=dict)
    visibility: Visibility = Visibility.PRIVATE
    quality: float | None = None
    suspicions: Sequence[Mapping[str, Any]] = ()
    folder_id: UUID | None = None
    """A folder within the caller's reach, in place of the one that a token always adds to."""


def create_text_item(
    access: Access, text: str, options: ItemOptions, prepared: Prepared | None
) -> Item:
    """Write a text that only the caller has, and their item of it."""
    content = Content.objects.create_text(owner_id=access.owner_id, title=options.title, text=text)
    return create_item(access, content, options, prepared)


def create_item(
    access: Access, content: Content, options: ItemOptions, prepared: Prepared | None
) -> Item:
    """Write the caller's item of a content, index it, and tell webhooks and jobs of it.

    Of a shared content, the item that the caller has already is renewed instead. Runs within the
    caller's transaction, which has locked the content or just made it.
    """
    if content.is_shared and (item := _renew_item(access, content, options, prepared)):
        return item
    folder_id = options.folder_id or access.filing_folder_id
    item = Item.objects.create(
        owner_id=access.owner_id,
        content=content,
        custom_title=options.title if options.title != content.title else "",
        in_kb=options.in_kb,
        tags=list(options.tags),
        type=options.type,
        attributes=dict(options.attributes),
        visibility=options.visibility,
        quality=options.quality,
        suspicions=list(options.suspicions),
        index_status=IndexStatus.PENDING if options.in_kb else IndexStatus.NONE,
        added_by_token=access.token_id,
        added_by_agent=access.agent_id,
        unfiled_by=None if folder_id else access.token_id,
    )
    changes.item_added(access, item, _file_new(access, item, folder_id))
    if item.in_kb and content.is_ready:
        index_text(item, prepared, is_new=True)
    if content.is_ready:
        announce(WebhookEvent.ITEM_READY, item)
    if options.auto_transform:
        transforms.want_transform(item)
    outcome = "ready" if content.is_ready else "queued"
    transaction.on_commit(INGESTED.labels(content.kind, outcome).inc)
    return item


def _file_new(access: Access, item: Item, folder_id: UUID | None) -> list[Filing]:
    if folder_id is None:
        return []
    # Looked for again: it may have been deleted since the ask was checked.
    [folder] = Folder.objects.visible_to(access).select_for_update().all_of([folder_id])
    return [Filing.objects.create(item=item, folder=folder)]


def _renew_item(
    access: Access, content: Content, options: ItemOptions, prepared: Prepared | None
) -> Item | None:
    """The item that the caller sees of this content, back, with what the call names."""
    items = Item.objects.visible_to(access).select_for_update(of=("self",))
    item = items.filter(content=content).first()
    if item is None:
        return None
    item.content = content
    before, title = changes.values_of(item, _RENEWED), item.title
    joins = options.in_kb and not item.in_kb
    for name, value in _renewed_values(item, options).items():
        setattr(item, name, value)
    if joins:
        item.index_status = IndexStatus.PENDING
    item.save(update_fields=[*_RENEWED, "index_status", "updated_at"])
    changes.item_changed(access, item, before)
    if options.folder_id:
        folders = Folder.objects.visible_to(access).select_for_update()
        file_into(access, item, folders.all_of([options.folder_id]))
    if item.in_kb and content.is_ready and (joins or item.title != title):
        ready = prepared if options.title else preparing.prepare_content(content, item.title)
        index_text(item, ready)
    if options.auto_transform and _lacks_summary(item):
        transforms.want_transform(item)
    return item


def _renewed_values(item: Item, options: ItemOptions) -> dict[str, Any]:
    """What is not named in the call stays as it is."""
    values: dict[str, Any] = {"archived": False, "in_kb": item.in_kb or options.in_kb}
    if options.title:
        values["custom_title"] = options.title if options.title != item.content.title else ""
    if options.tags:
        values["tags"] = list(options.tags)
    return values


def _lacks_summary(item: Item) -> bool:
    """Adding again pays for nothing that is there or on the way."""
    return not Transform.objects.filter(item=item).exclude(state=TransformState.FAILED).exists()


def file_into(access: Access, item: Item, folders: Collection[Folder]) -> None:
    """Put a locked item in folders within the caller's reach; where it is already, it stays."""
    there = set(item.filings.values_list("folder_id", flat=True))
    new = [Filing(item=item, folder=folder) for folder in folders if folder.pk not in there]
    filings = item.filings.bulk_create(new)
    changes.item_filed(access, item, filings, unfiled_by=item.unfiled_by)
    item.unfiled_by = None
    item.save(update_fields=["unfiled_by", "updated_at"])


def rewrite_item(
    access: Access, item: Item, *, title: str, text: str, prepared: Prepared | None = None
) -> None:
    """Give an item of its owner's own another text, and index that.

    Runs within the caller's transaction, which has locked the content and then the item.
    """
    content = item.content
    before = changes.values_of(content, ("title", "text"))
    content.title, content.text, content.language = title, text, language_of(text)
    content.save(update_fields=["title", "text", "language", "changed_at"])
    changes.item_rewritten(access, item, before)
    item.save(update_fields=["updated_at"])
    if item.in_kb:
        index_text(item, prepared)


def index_text(item: Item, prepared: Prepared | None, *, is_new: bool = False) -> None:
    """Index an item within the caller's transaction; the job for what is left commits with it."""
    # What was prepared may be of a text that another caller has replaced, or fetched before us.
    if prepared is None or prepared.text != item.content.text:
        prepared = preparing.prepare_content(item.content, item.title, with_vectors=False)
    pipeline.index_item(item, prepared.pieces, prepared.embedded, is_new=is_new, rows=prepared.rows)
    if item.index_status == IndexStatus.KEYWORD:
        embed_item.send(str(item.pk))
