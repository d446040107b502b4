"""A new item for a content: where it is filed, and how it is indexed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from knowledge.access import Access
from knowledge.errors import OutOfScope
from knowledge.indexing import generations, pipeline
from knowledge.indexing.generations import EmbeddedPieces
from knowledge.ingest import tasks, transforms
from knowledge.ledger import changes
from knowledge.models import (
    Content,
    Filing,
    Folder,
    IndexStatus,
    Item,
    ItemType,
    Visibility,
    WebhookEvent,
)
from knowledge.monitoring.metrics import INGESTED
from knowledge.progress import tell
from knowledge.text.chunking import Piece, chunk
from knowledge.text.languages import language_of
from knowledge.validation import clean_line, clean_tags

MAX_TITLE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How a caller wants what it adds; checked when made by `wish_of`."""

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


def wish_of(
    access: Access,
    *,
    title: str | None = None,
    in_kb: bool = True,
    tags: Collection[str] = (),
    auto_transform: bool = False,
    folder_id: UUID | None = None,
) -> Wish:
    """The wish within the rules: a kb_only token adds to the knowledge base whatever it says."""
    if folder_id:
        folders_within(access, [folder_id])
    return Wish(
        title="" if title is None else clean_line(title, field="title", longest=MAX_TITLE),
        in_kb=in_kb or access.kb_only,
        tags=tuple(clean_tags(tags)),
        auto_transform=auto_transform,
        folder_id=folder_id,
    )


def folders_within(
    access: Access, folder_ids: Collection[UUID], *, for_update: bool = False
) -> list[Folder]:
    """The folders of these ids; one that is out of the caller's reach refuses the ask.

    With `for_update` they are locked until the transaction ends, so that none is deleted meanwhile.
    """
    visible = Folder.objects.visible_to(access).filter(pk__in=folder_ids)
    folders = list(visible.select_for_update() if for_update else visible)
    if missing := set(folder_ids) - {folder.pk for folder in folders}:
        raise OutOfScope(missing)
    return folders


def file_into(access: Access, item: Item, folders: Collection[Folder]) -> None:
    """Put an item, held, in folders within the caller's reach; where it is already, it stays."""
    there = set(item.filings.values_list("folder_id", flat=True))
    new = [Filing(item=item, folder=folder) for folder in folders if folder.pk not in there]
    filings = item.filings.bulk_create(new)
    changes.item_filed(access, item, filings, unfiled_by=item.unfiled_by)
    item.unfiled_by = None
    item.save(update_fields=["unfiled_by", "updated_at"])


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text cut into pieces and, when they are few, embedded: all the slow work of indexing."""

    text: str
    pieces: list[Piece]
    embedded: EmbeddedPieces | None


def prepare(text: str, title: str) -> Prepared:
    """Do the slow work before any row is held."""
    tell("indexing")
    pieces = chunk(text)
    return Prepared(text, pieces, generations.embed_inline(title, pieces))


def cut(text: str) -> Prepared:
    """Only cut, and leave all embedding to a job."""
    return Prepared(text, chunk(text), None)


def index(item: Item, ready: Prepared | None, *, is_new: bool = False) -> None:
    """Index within the caller's transaction; the job for what is left commits with it."""
    # What was prepared may be of a text that another caller has replaced, or fetched before us.
    if ready is None or ready.text != item.content.text:
        ready = cut(item.content.text)
    pipeline.index_item(item, ready.pieces, ready.embedded, is_new=is_new)
    if item.index_status == IndexStatus.KEYWORD:
        tasks.embed_item.send(str(item.pk))


def own_text(access: Access, *, title: str, text: str) -> Content:
    """A content that only its owner has, in the caller's transaction."""
    return Content.objects.create(
        owner_id=access.owner_id, kind="text", title=title, text=text, language=language_of(text)
    )


def shelve(access: Access, content: Content, wish: Wish, ready: Prepared | None) -> Item:
    """Make the caller's item of a content, in the caller's transaction, which holds the content."""
    custom_title = wish.title if wish.title != content.title else ""
    folder_id = wish.folder_id or access.filing_folder_id
    item = Item.objects.create(
        owner_id=access.owner_id,
        content=content,
        custom_title=custom_title,
        in_kb=wish.in_kb,
        tags=list(wish.tags),
        type=wish.type,
        attributes=dict(wish.attributes),
        visibility=wish.visibility,
        quality=wish.quality,
        suspicions=list(wish.suspicions),
        index_status=IndexStatus.PENDING if wish.in_kb else IndexStatus.NONE,
        added_by_token=access.token_id,
        added_by_agent=access.agent_id,
        unfiled_by=None if folder_id else access.token_id,
    )
    changes.item_added(access, item, _file(access, item, folder_id))
    if item.in_kb and content.is_ready:
        index(item, ready, is_new=True)
    if content.is_ready:
        tasks.announce(WebhookEvent.ITEM_READY, item)
    if wish.auto_transform:
        transforms.want_transform(item)
    outcome = "ready" if content.is_ready else "queued"
    transaction.on_commit(INGESTED.labels(content.kind, outcome).inc)
    return item


def rewrite(
    access: Access, item: Item, *, title: str, text: str, ready: Prepared | None = None
) -> None:
    """Give an item of its owner's own another text, and index that.

    Runs within the caller's transaction, which holds the content and then the item.
    """
    content = item.content
    before = changes.values_of(content, ("title", "text"))
    content.title, content.text, content.language = title, text, language_of(text)
    content.save(update_fields=["title", "text", "language", "changed_at"])
    changes.item_rewritten(access, item, before)
    item.save(update_fields=["updated_at"])
    if item.in_kb:
        index(item, ready)


def _file(access: Access, item: Item, folder_id: UUID | None) -> list[Filing]:
    if folder_id is None:
        return []
    # Looked for again: it may have been deleted since the ask was checked.
    [folder] = folders_within(access, [folder_id], for_update=True)
    return [Filing.objects.create(item=item, folder=folder)]
