"""Items: created for a content, renewed when it is added again, filed, indexed and rewritten."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from knowledge.access import Access
from knowledge.indexing import pipeline, preparing
from knowledge.indexing.pipeline import NewRows
from knowledge.indexing.preparing import Prepared
from knowledge.ingest import transforms
from knowledge.ingest.followups import announce, send_embedding
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
from knowledge.models.prepared import insert_rows, joined_writes
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


class NewText(NamedTuple):
    """A text that only its owner is to have, how they want their item of it, and its pieces."""

    text: str
    options: ItemOptions
    prepared: Prepared | None

    @property
    def language(self) -> str:
        """As it was found out when the text was prepared; empty if that was not this text."""
        prepared = self.prepared
        return prepared.language if prepared and prepared.text == self.text else ""


def create_text_item(
    access: Access, text: str, options: ItemOptions, prepared: Prepared | None
) -> Item:
    """Write a text that only the caller has, and their item of it."""
    [item] = create_text_items(access, [NewText(text, options, prepared)])
    return item


def create_text_items(access: Access, texts: Sequence[NewText]) -> list[Item]:
    """Write texts that only the caller has, and their items, with one statement a table."""
    with joined_writes():
        contents = Content.objects.create_texts(
            access.owner_id,
            [(each.options.title, each.text, each.language) for each in texts],
        )
        new = [
            _NewItem(content, each.options, each.prepared)
            for content, each in zip(contents, texts, strict=True)
        ]
        return _create_items(access, new)


def create_item(
    access: Access, content: Content, options: ItemOptions, prepared: Prepared | None
) -> Item:
    """Write the caller's item of a content, index it, and tell webhooks and jobs of it.

    Of a shared content, the item that the caller has already is renewed instead. Runs within the
    caller's transaction, which has locked the content or just made it.
    """
    if content.is_shared and (item := _renew_item(access, content, options, prepared)):
        return item
    [item] = _create_items(access, [_NewItem(content, options, prepared)])
    return item


class _NewItem(NamedTuple):
    content: Content
    options: ItemOptions
    prepared: Prepared | None


def _create_items(access: Access, new: Sequence[_NewItem]) -> list[Item]:
    """Write new items. Their chunks come first, so that no row is written twice."""
    folder_ids = [each.options.folder_id or access.filing_folder_id for each in new]
    if named := {folder_id for folder_id in folder_ids if folder_id}:
        # Looked for again: one may have been deleted since the ask was checked.
        Folder.objects.visible_to(access).lock_all_of(named)
    items = [
        _item_of(access, each.content, each.options, is_filed=folder_id is not None)
        for each, folder_id in zip(new, folder_ids, strict=True)
    ]
    with_text = [
        (item, each.prepared)
        for item, each in zip(items, new, strict=True)
        if each.content.is_ready
    ]
    with joined_writes():
        pipeline.index_new_items(
            [_rows_of(item, prepared) for item, prepared in with_text if item.in_kb]
        )
        insert_rows(items)
        filings = [
            Filing(item=item, folder_id=folder_id)
            for item, folder_id in zip(items, folder_ids, strict=True)
            if folder_id
        ]
        if filings:
            Filing.objects.bulk_create(filings)
        changes.items_added(access, items, filings)
        announce(WebhookEvent.ITEM_READY, *(item for item, _ in with_text))
    for item, each in zip(items, new, strict=True):
        if item.index_status == IndexStatus.KEYWORD:
            send_embedding(item)
        if each.options.auto_transform:
            transforms.want_transform(item)
        outcome = "ready" if each.content.is_ready else "queued"
        transaction.on_commit(INGESTED.labels(each.content.kind, outcome).inc)
    pipeline.count_new_items(items)
    return items


def _item_of(access: Access, content: Content, options: ItemOptions, *, is_filed: bool) -> Item:
    """The caller's item of a content; not saved yet."""
    return Item(
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
        unfiled_by=None if is_filed else access.token_id,
    )


def _rows_of(item: Item, prepared: Prepared | None) -> NewRows:
    ready = _own_prepared(item, prepared)
    return NewRows(item, pipeline.rows_of(item, ready.pieces, ready.rows), ready.embedded)


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
        folders = Folder.objects.visible_to(access).lock_all_of([options.folder_id])
        file_into(access, item, folders)
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
    ready = _own_prepared(item, prepared)
    pipeline.index_item(item, ready.pieces, ready.embedded, is_new=is_new, rows=ready.rows)
    if item.index_status == IndexStatus.KEYWORD:
        send_embedding(item)


def _own_prepared(item: Item, prepared: Prepared | None) -> Prepared:
    # What was prepared may be of a text that another caller has replaced, or fetched before us.
    if prepared is None or prepared.text != item.content.text:
        return preparing.prepare_content(item.content, item.title, with_vectors=False)
    return prepared
