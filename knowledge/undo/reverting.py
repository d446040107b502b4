"""Bringing back what was before a change, while everything is still as that change left it.

Each runs within the caller's transaction. To rehearse is to learn what would happen: it does as
little as tells that, leaves rows that do not fit together, and is rolled back by the caller.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from knowledge.access import Access
from knowledge.errors import NameTaken, QuotaExceeded
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest import followups
from knowledge.ingest.contents import lock_content, save_failure
from knowledge.ingest.items import rewrite_item
from knowledge.ledger.changes import M, as_data, from_data, text_digest, values_of
from knowledge.library import items as library
from knowledge.models import (
    Change,
    ChangeKind,
    Content,
    Filing,
    Folder,
    Item,
    Link,
    SourcePage,
    Transform,
    TransformState,
    Upload,
    Webhook,
)
from knowledge.moderation import quarantine


class SinceChanged(Exception):
    """What a change left is not so any more; the message says what somebody did to it."""


def prepare(change: Change) -> Prepared | None:
    """The slow work of reverting a change, to be done before any row is held."""
    if change.kind == ChangeKind.ITEM_DELETED and change.before["item"]["in_kb"]:
        content = change.before["content"]
        title = change.before["item"]["custom_title"] or content["title"]
        return preparing.prepare(content["text"], title)
    if change.kind == ChangeKind.ITEM_REWRITTEN:
        return preparing.prepare(change.before["text"], change.before["title"])
    if change.kind != ChangeKind.ITEM_CHANGED:
        return None
    item = Item.objects.select_related("content").filter(pk=change.target).first()
    if item is None or not library.needs_indexing(item, change.before):
        return None
    title = change.before.get("custom_title", item.custom_title) or item.content.title
    return preparing.prepare(item.content.text, title)


def revert(change: Change, ready: Prepared | None = None, *, rehearse: bool = False) -> None:
    """Make a change undone, or raise SinceChanged and leave everything."""
    _REVERTERS[ChangeKind(change.kind)](change, ready, rehearse)


# Items ----------------------------------------------------------------------------------------


def _remove_added_item(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    item = _held_item(change)
    _expect(item, {name: left for name, left in change.after.items() if name != "filings"})
    if item.filings.exclude(pk__in=change.after["filings"]).exists():
        raise SinceChanged("It was filed by somebody else since.")
    if not rehearse:
        library.delete_item(_owner(change), item.pk)
        return
    Filing.objects.filter(item=item)._raw_delete(using="default")
    Item.objects.filter(pk=item.pk)._raw_delete(using="default")


def _set_item_back(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    item = _held_item(change)
    _expect(item, change.after)
    if rehearse:
        Item.objects.filter(pk=item.pk).update(**change.before)
    else:
        library.set_fields(item, change.before, ready)


def _write_back(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    item = _held_item(change)
    content = item.content
    left = {"title": content.title, "digest": text_digest(content.text)}
    if left != change.after:
        raise SinceChanged("It was written anew by somebody else since.")
    if rehearse:
        Content.objects.filter(pk=content.pk).update(**change.before)
    else:
        rewrite_item(_owner(change), item, **change.before, prepared=ready)


def _restore_item(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    before = change.before
    content = _known_content(before["content"])
    is_back = content is None
    if content is None:
        content = _insert(from_data(Content, before["content"]))
        _restore_links(content, before["links"])
    elif _added_since(change, content):
        raise SinceChanged("Its source was added again since.")
    # A record from before arrivals were kept has none; the item was there when it was made.
    item = from_data(Item, {"arrived_at": before["item"]["created_at"], **before["item"]})
    item.content, item.chunk_count = content, 0
    _insert(item)
    _restore_filings(before["filings"])
    for row in before["transform"]:
        _insert(from_data(Transform, row))
    _restore_belongings(before.get("belongings", ()))
    quarantine.forget_deleted(item)
    if before.get("page"):
        SourcePage.objects.filter(pk=before["page"], item=None).update(item=item)
    if before["upload"]:
        Upload.objects.filter(pk=before["upload"], content=None).update(
            content=content, kept_until=None
        )
    if not rehearse:
        _resume(change, item, ready, is_back=is_back)


def _known_content(data: Mapping[str, Any]) -> Content | None:
    """The content of a deleted item if others keep it, or if its address was added again."""
    contents = Content.objects.filter(pk=data["id"])
    if data["canonical_url"]:
        contents |= Content.objects.filter(canonical_url=data["canonical_url"])
    content_id = contents.values_list("pk", flat=True).first()
    return lock_content(content_id) if content_id else None


def _added_since(change: Change, content: Content) -> bool:
    items = Item.objects.filter(owner_id=change.owner_id, content=content)
    return items.filter(created_at__gt=change.at).exists()


def _restore_links(content: Content, keys: Iterable[str]) -> None:
    for key in keys:
        Link.objects.get_or_create(key=key, defaults={"content": content})


def _restore_filings(rows: Iterable[Mapping[str, Any]]) -> None:
    """Filings whose item and folder are both there; the others have nowhere to be."""
    filings = [from_data(Filing, row) for row in rows]
    folders = Folder.objects.filter(pk__in={filing.folder_id for filing in filings})
    items = Item.objects.filter(pk__in={filing.item_id for filing in filings})
    held = items.order_by("pk").select_for_update(of=("self",))
    there = {*folders.values_list("pk", flat=True), *held.values_list("pk", flat=True)}
    for filing in filings:
        if {filing.folder_id, filing.item_id} <= there:
            _insert(filing)


def _restore_belongings(rows: Iterable[Mapping[str, Any]]) -> None:
    """What hung on the item; a relation only if its other end is still there."""
    for each in rows:
        model = apps.get_model(each["model"])
        row = from_data(model, each["row"])
        fields = [field for field in model._meta.concrete_fields if field.related_model is Item]
        ends = {getattr(row, field.attname) for field in fields}
        if Item.objects.filter(pk__in=ends).count() == len(ends):
            _insert(row)


def _resume(change: Change, item: Item, ready: Prepared | None, *, is_back: bool) -> None:
    """Index what is back, or go on with the work that its deletion ended."""
    content = item.content
    if is_back and content.is_at_work:
        try:
            with transaction.atomic():
                library.begin_again(_owner(change), content)
        except QuotaExceeded as error:
            save_failure(content.pk, error)
    if item.in_kb:
        library.index_or_wait(item, ready)
    if Transform.objects.filter(item=item, state=TransformState.QUEUED).exists():
        followups.summarize_item.send(str(item.pk))


def _take_out(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    item = _held_item(change)
    removed, _ = item.filings.filter(pk__in=change.after["filings"]).delete()
    if not removed:
        raise SinceChanged("It is not filed there any more.")
    if change.before["unfiled_by"] and not item.filings.exists():
        item.unfiled_by = UUID(change.before["unfiled_by"])
    item.save(update_fields=["unfiled_by", "updated_at"])


def _file_again(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    item = _held_item(change)
    filing = from_data(Filing, change.before["filing"])
    if not Folder.objects.filter(pk=filing.folder_id).exists():
        raise SinceChanged("Its folder was deleted since.")
    if item.filings.filter(folder=filing.folder_id).exists():
        raise SinceChanged("It was filed there again since.")
    _insert(filing)
    item.save(update_fields=["updated_at"])


# Folders --------------------------------------------------------------------------------------


def _remove_created_folder(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    folder = _held_folder(change)
    _expect(folder, change.after)
    if folder.filings.exists():
        raise SinceChanged("There is something in it that stays.")
    if folder.tokens.exists():
        raise SinceChanged("A token was given it since.")
    library.delete_folder(_owner(change), folder.pk)


def _rename_back(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    folder = _held_folder(change)
    _expect(folder, change.after)
    try:
        library.rename_folder(_owner(change), folder.pk, change.before["name"])
    except NameTaken:
        raise SinceChanged("Another folder has its old name now.") from None


def _restore_folder(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    """Tokens do not reach it again: what a token reaches never grows."""
    try:
        with transaction.atomic():
            _insert(from_data(Folder, change.before["folder"]))
    except IntegrityError:
        raise SinceChanged("Another folder has its name now.") from None
    _restore_filings(change.before["filings"])


# Webhooks -------------------------------------------------------------------------------------


def _remove_created_webhook(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    webhook = _held_webhook(change)
    _expect(webhook, change.after)
    webhook.delete()


def _set_webhook_back(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    webhook = _held_webhook(change)
    _expect(webhook, change.after)
    Webhook.objects.filter(pk=webhook.pk).update(**change.before)


def _restore_webhook(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    _insert(from_data(Webhook, change.before["webhook"]))


# Any other row ---------------------------------------------------------------------------------


def _remove_added_row(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    row = _held_row(change, change.after["model"])
    _expect_data(row, change.after["row"])
    row.delete()


def _set_row_back(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    model = apps.get_model(change.before["model"])
    row = _held_row(change, change.before["model"])
    _expect_data(row, change.after["row"])
    was = from_data(model, change.before["row"])
    values = {name: getattr(was, name) for name in change.before["row"]}
    try:
        with transaction.atomic():
            model._default_manager.filter(pk=row.pk).update(**values)
    except IntegrityError:
        raise SinceChanged("Another has taken its place since.") from None


def _restore_row(change: Change, ready: Prepared | None, rehearse: bool) -> None:
    model = apps.get_model(change.before["model"])
    try:
        with transaction.atomic():
            _insert(from_data(model, change.before["row"]))
            connection.check_constraints()
    except IntegrityError:
        raise SinceChanged("What it belongs to is gone, or another took its place.") from None


def _held_row(change: Change, model: str) -> Model:
    rows = apps.get_model(model)._default_manager.filter(pk=change.target)
    row: Model | None = rows.select_for_update(of=("self",)).first()
    if row is None:
        raise SinceChanged("It is deleted already.")
    return row


def _expect_data(row: Model, left: Mapping[str, Any]) -> None:
    data = as_data(row)
    if {name: data[name] for name in left if name in data} != dict(left):
        raise SinceChanged("It was changed by somebody else since.")


# What they share ------------------------------------------------------------------------------


def _owner(change: Change) -> Access:
    return Access.whole_library(change.owner_id)


def _held_item(change: Change) -> Item:
    """The item, and before it its content, as everyone else holds them."""
    items = Item.objects.filter(pk=change.target, owner_id=change.owner_id)
    if content_id := items.values_list("content_id", flat=True).first():
        lock_content(content_id)
    item = items.select_related("content").select_for_update(of=("self",)).first()
    if item is None:
        raise SinceChanged("It is deleted already.")
    return item


def _held_folder(change: Change) -> Folder:
    folders = Folder.objects.filter(pk=change.target, owner_id=change.owner_id)
    folder = folders.select_for_update().first()
    if folder is None:
        raise SinceChanged("It is deleted already.")
    return folder


def _held_webhook(change: Change) -> Webhook:
    webhooks = Webhook.objects.filter(pk=change.target, owner_id=change.owner_id)
    webhook = webhooks.select_for_update().first()
    if webhook is None:
        raise SinceChanged("It is deleted already.")
    return webhook


def _expect(row: Item | Folder | Webhook, left: Mapping[str, Any]) -> None:
    if values_of(row, left) != left:
        raise SinceChanged("It was changed by somebody else since.")


def _insert(row: M) -> M:
    """Write a row as it was, with its own id and times."""
    row.save_base(raw=True, force_insert=True)
    return row


_REVERTERS: dict[ChangeKind, Callable[[Change, Prepared | None, bool], None]] = {
    ChangeKind.ITEM_ADDED: _remove_added_item,
    ChangeKind.ITEM_CHANGED: _set_item_back,
    ChangeKind.ITEM_REWRITTEN: _write_back,
    ChangeKind.ITEM_DELETED: _restore_item,
    ChangeKind.ITEM_FILED: _take_out,
    ChangeKind.ITEM_UNFILED: _file_again,
    ChangeKind.FOLDER_CREATED: _remove_created_folder,
    ChangeKind.FOLDER_RENAMED: _rename_back,
    ChangeKind.FOLDER_DELETED: _restore_folder,
    ChangeKind.WEBHOOK_CREATED: _remove_created_webhook,
    ChangeKind.WEBHOOK_CHANGED: _set_webhook_back,
    ChangeKind.WEBHOOK_DELETED: _restore_webhook,
    ChangeKind.ROW_ADDED: _remove_added_row,
    ChangeKind.ROW_CHANGED: _set_row_back,
    ChangeKind.ROW_DELETED: _restore_row,
}
