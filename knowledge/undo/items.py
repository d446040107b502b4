"""Undoing what a token did to items."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import transaction
from django.db.models import QuerySet

from knowledge.errors import QuotaExceeded
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest import followups
from knowledge.ingest.contents import save_failure
from knowledge.ingest.items import rewrite_item
from knowledge.ledger.changes import from_data, text_digest
from knowledge.library import items as library
from knowledge.models import (
    Change,
    Content,
    Filing,
    Folder,
    Highlight,
    Item,
    Link,
    SourcePage,
    Transform,
    TransformState,
    Upload,
)
from knowledge.models.locking import lock_content, lock_item
from knowledge.moderation import quarantine
from knowledge.undo.base import SinceChanged, Undo, expect, insert, restore_filings


class _ItemUndo(Undo):
    """A change to an item that is still there."""

    item: Item
    ready: Prepared | None = None

    def check(self) -> None:
        items = Item.objects.filter(owner_id=self.change.owner_id)
        item = lock_item(items, self.change.target)
        if item is None:
            raise SinceChanged("It is deleted already.")
        self.item = item


class RemoveAddedItem(_ItemUndo):
    def check(self) -> None:
        super().check()
        filed = self.after["filings"]
        expect(self.item, {name: left for name, left in self.after.items() if name != "filings"})
        if self.item.filings.exclude(pk__in=filed).exists():
            raise SinceChanged("It was filed by somebody else since.")

    def apply(self) -> None:
        library.delete_item(self.owner, self.item.pk)

    def rehearse(self) -> None:
        Filing.objects.filter(item=self.item)._raw_delete(using="default")
        Item.objects.filter(pk=self.item.pk)._raw_delete(using="default")


class SetItemBack(_ItemUndo):
    def prepare(self) -> None:
        item = Item.objects.select_related("content").filter(pk=self.change.target).first()
        if item is not None and library.needs_indexing(item, self.before):
            title = self.before.get("custom_title", item.custom_title) or item.content.title
            self.ready = preparing.prepare_content(item.content, title)

    def check(self) -> None:
        super().check()
        expect(self.item, self.after)

    def apply(self) -> None:
        library.set_fields(self.item, self.before, self.ready)

    def rehearse(self) -> None:
        Item.objects.filter(pk=self.item.pk).update(**self.before)


class WriteItemBack(_ItemUndo):
    def prepare(self) -> None:
        self.ready = preparing.prepare(self.before["text"], self.before["title"])

    def check(self) -> None:
        super().check()
        content = self.item.content
        if self.after != {"title": content.title, "digest": text_digest(content.text)}:
            raise SinceChanged("It was written anew by somebody else since.")

    def apply(self) -> None:
        rewrite_item(self.owner, self.item, **self.before, prepared=self.ready)

    def rehearse(self) -> None:
        Content.objects.filter(pk=self.item.content_id).update(**self.before)


class TakeItemOut(_ItemUndo):
    """Out of the folders that it was filed in."""

    def check(self) -> None:
        super().check()
        if not self._filings().select_for_update().values_list("pk").first():
            raise SinceChanged("It is not filed there any more.")

    def apply(self) -> None:
        item = self.item
        self._filings().delete()
        if self.before["unfiled_by"] and not item.filings.exists():
            item.unfiled_by = UUID(self.before["unfiled_by"])
        item.save(update_fields=["unfiled_by", "updated_at"])

    def _filings(self) -> QuerySet[Filing]:
        return self.item.filings.filter(pk__in=self.after["filings"])


class FileItemAgain(_ItemUndo):
    def check(self) -> None:
        super().check()
        self.filing = from_data(Filing, self.before["filing"])
        if not Folder.objects.filter(pk=self.filing.folder_id).exists():
            raise SinceChanged("Its folder was deleted since.")
        if self.item.filings.filter(folder=self.filing.folder_id).exists():
            raise SinceChanged("It was filed there again since.")

    def apply(self) -> None:
        insert(self.filing)
        self.item.save(update_fields=["updated_at"])


class RestoreItem(Undo):
    """With all that was deleted with it."""

    ready: Prepared | None = None
    content: Content | None

    def prepare(self) -> None:
        if self.before["item"]["in_kb"]:
            content = self.before["content"]
            title = self.before["item"]["custom_title"] or content["title"]
            self.ready = preparing.prepare(content["text"], title)

    def check(self) -> None:
        self.content = _find_content(self.before["content"])
        if self.content and _was_added_since(self.change, self.content):
            raise SinceChanged("Its source was added again since.")

    def apply(self) -> None:
        self._resume(self._restore())

    def rehearse(self) -> None:
        self._restore()

    def _restore(self) -> Item:
        before = self.before
        content = self.content or self._restore_content()
        # A record from before arrivals were kept has none; the item was there when it was made.
        item = from_data(Item, {"arrived_at": before["item"]["created_at"], **before["item"]})
        item.content, item.chunk_count = content, 0
        insert(item)
        restore_filings(before["filings"])
        for row in before["transform"]:
            insert(from_data(Transform, row))
        _restore_belongings(before.get("belongings", ()))
        quarantine.forget_deleted(item)
        if before.get("page"):
            SourcePage.objects.filter(pk=before["page"], item=None).update(item=item)
        Highlight.objects.filter(pk__in=before.get("noted", ()), note=None).update(note=item)
        if before["upload"]:
            uploads = Upload.objects.filter(pk=before["upload"], content=None)
            uploads.update(content=content, kept_until=None)
        return item

    def _restore_content(self) -> Content:
        content = insert(from_data(Content, self.before["content"]))
        for key in self.before["links"]:
            Link.objects.get_or_create(key=key, defaults={"content": content})
        return content

    def _resume(self, item: Item) -> None:
        """Index what is back, or go on with the work that its deletion ended."""
        content = item.content
        if self.content is None and content.is_at_work:
            try:
                with transaction.atomic():
                    library.begin_again(self.owner, content)
            except QuotaExceeded as error:
                save_failure(content.pk, error)
        if item.in_kb:
            library.index_or_wait(item, self.ready)
        if Transform.objects.filter(item=item, state=TransformState.QUEUED).exists():
            followups.summarize_item.send(str(item.pk))


def _find_content(data: Mapping[str, Any]) -> Content | None:
    """The content of a deleted item if others keep it, or if its address was added again."""
    contents = Content.objects.filter(pk=data["id"])
    if data["canonical_url"]:
        contents |= Content.objects.filter(canonical_url=data["canonical_url"])
    content_id = contents.values_list("pk", flat=True).first()
    return lock_content(content_id) if content_id else None


def _was_added_since(change: Change, content: Content) -> bool:
    items = Item.objects.filter(owner_id=change.owner_id, content=content)
    return items.filter(created_at__gt=change.at).exists()


def _restore_belongings(rows: Iterable[Mapping[str, Any]]) -> None:
    """What hung on the item; a relation only if its other end is still there."""
    for each in rows:
        model = apps.get_model(each["model"])
        row = from_data(model, each["row"])
        fields = [field for field in model._meta.concrete_fields if field.related_model is Item]
        ends = {field.attname: getattr(row, field.attname) for field in fields}
        there = set(Item.objects.filter(pk__in=ends.values()).values_list("pk", flat=True))
        gone = [field for field in fields if ends[field.attname] not in there]
        for field in gone:
            setattr(row, field.attname, None)
        if all(field.null for field in gone):
            insert(row)
