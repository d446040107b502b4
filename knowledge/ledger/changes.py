"""The record of what is written: made in the transaction of each write, to revert it by."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q
from django.utils import timezone

from knowledge.access import Access
from knowledge.models import (
    Change,
    ChangeKind,
    Filing,
    Folder,
    Highlight,
    Item,
    Quality,
    Quarantine,
    ReadingProgress,
    Relation,
    SourcePage,
    Transform,
    Validation,
    Version,
    Webhook,
)
from knowledge.models.prepared import insert_rows

KEPT_FOR = timedelta(days=30)
"""How long what a token wrote can be undone, and what it deleted is held for that."""

ITEM_FIELDS = ("type", "custom_title", "in_kb", "tags", "attributes", "visibility", "archived")
"""What people and agents change about an item; the rest follows from its content."""

WEBHOOK_FIELDS = ("url", "events", "is_active")
VERSION_FIELDS = ("item_id", "number", "digest")
"""By what a version is known; who sees it is for admins to say too."""

M = TypeVar("M", bound=Model)


# What was written -----------------------------------------------------------------------------


def items_added(access: Access, items: Iterable[Item], filings: Iterable[Filing]) -> None:
    """New items, and where they were filed."""
    if access.recorded_as is None:
        return
    filed: dict[UUID, list[int]] = {}
    for filing in filings:
        filed.setdefault(filing.item_id, []).append(filing.pk)
    insert_rows(
        [
            _change(
                access,
                access.recorded_as,
                ChangeKind.ITEM_ADDED,
                item,
                after={**values_of(item, ITEM_FIELDS), "filings": filed.get(item.pk, [])},
            )
            for item in items
        ]
    )


def item_changed(access: Access, item: Item, before: Mapping[str, Any]) -> None:
    """What an item has become; what it was before is left out where it stays the same."""
    after = values_of(item, before)
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        _record(
            access,
            ChangeKind.ITEM_CHANGED,
            item,
            before={name: before[name] for name in changed},
            after={name: after[name] for name in changed},
        )


def item_rewritten(access: Access, item: Item, before: Mapping[str, str]) -> None:
    """What an item's own content said before."""
    after = {"title": item.content.title, "digest": text_digest(item.content.text)}
    if before["text"] != item.content.text or before["title"] != item.content.title:
        _record(access, ChangeKind.ITEM_REWRITTEN, item, before=before, after=after)


def item_deleted(access: Access, item: Item) -> None:
    """All there is of an item that is about to be deleted; its chunks are made anew."""
    if access.recorded_as is None:
        return
    content = item.content
    upload = getattr(content, "upload", None)
    _record(
        access,
        ChangeKind.ITEM_DELETED,
        item,
        before={
            "item": as_data(item),
            "content": as_data(content),
            "links": list(content.links.values_list("key", flat=True)),
            "upload": upload and str(upload.pk),
            "filings": [as_data(filing) for filing in item.filings.all()],
            "transform": [as_data(row) for row in Transform.objects.filter(item=item)],
            "belongings": [{**_model(row), "row": as_data(row)} for row in _dependent_rows(item)],
            "page": _page_of(item),
            "noted": [str(pk) for pk in item.noted_passages.values_list("pk", flat=True)],
        },
    )


def _dependent_rows(item: Item) -> Iterator[Model]:
    """Rows that are deleted with an item, and restored with it."""
    yield from Relation.objects.filter(Q(source=item) | Q(target=item))
    for model in (Version, Quality, Validation, Quarantine, Highlight, ReadingProgress):
        yield from model._default_manager.filter(item=item)


def _page_of(item: Item) -> str | None:
    """The page of a documentation source that the item was made of, which stays without it."""
    page_id = SourcePage.objects.filter(item=item).values_list("pk", flat=True).first()
    return None if page_id is None else str(page_id)


def item_filed(
    access: Access, item: Item, filings: Collection[Filing], *, unfiled_by: UUID | None
) -> None:
    before = {"unfiled_by": unfiled_by and str(unfiled_by)}
    if filings:
        after = {"filings": [filing.pk for filing in filings]}
        _record(access, ChangeKind.ITEM_FILED, item, before=before, after=after)


def item_unfiled(access: Access, item: Item, filings: Iterable[Filing]) -> None:
    for filing in filings:
        before = {"filing": as_data(filing)}
        _record(access, ChangeKind.ITEM_UNFILED, item, before=before)


def folder_created(access: Access, folder: Folder) -> None:
    _record(access, ChangeKind.FOLDER_CREATED, folder, after={"name": folder.name})


def folder_renamed(access: Access, folder: Folder, before: str) -> None:
    if folder.name != before:
        names = {"before": {"name": before}, "after": {"name": folder.name}}
        _record(access, ChangeKind.FOLDER_RENAMED, folder, **names)


def folder_deleted(access: Access, folder: Folder) -> None:
    """A folder that is about to be deleted, and what is filed there."""
    if access.recorded_as is None:
        return
    filings = [as_data(filing) for filing in folder.filings.all()]
    before = {"folder": as_data(folder), "filings": filings}
    _record(access, ChangeKind.FOLDER_DELETED, folder, before=before)


def webhook_created(access: Access, webhook: Webhook) -> None:
    _record(access, ChangeKind.WEBHOOK_CREATED, webhook, after=values_of(webhook, WEBHOOK_FIELDS))


def webhook_changed(access: Access, webhook: Webhook, before: Mapping[str, Any]) -> None:
    after = values_of(webhook, WEBHOOK_FIELDS)
    _record(access, ChangeKind.WEBHOOK_CHANGED, webhook, before=before, after=after)


def webhook_deleted(access: Access, webhook: Webhook) -> None:
    _record(access, ChangeKind.WEBHOOK_DELETED, webhook, before={"webhook": as_data(webhook)})


def row_added(access: Access, row: Model, *, fields: Iterable[str] | None = None) -> None:
    """A row of any other model; it is undone while these fields are as they were."""
    data = as_data(row)
    kept = data if fields is None else {name: data[name] for name in fields}
    _record(access, ChangeKind.ROW_ADDED, row, after={**_model(row), "row": kept})


def row_changed(access: Access, row: Model, before: Mapping[str, Any]) -> None:
    """What a row was, by `as_data` of it before; only what differs is kept."""
    after = as_data(row)
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        _record(
            access,
            ChangeKind.ROW_CHANGED,
            row,
            before={**_model(row), "row": {name: before[name] for name in changed}},
            after={"row": {name: after[name] for name in changed}},
        )


def row_deleted(access: Access, row: Model) -> None:
    """A row that is about to be deleted, and nothing that hangs on it."""
    _record(access, ChangeKind.ROW_DELETED, row, before={**_model(row), "row": as_data(row)})


def forget_old() -> None:
    """Let go of what can no longer be undone."""
    Change.objects.filter(at__lt=timezone.now() - KEPT_FOR)._raw_delete(using="default")


# Rows as data ---------------------------------------------------------------------------------


def values_of(row: Model, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def as_data(row: Model) -> dict[str, Any]:
    """A row as JSON can hold it, to the microsecond."""
    return {
        field.attname: _plain(field.value_from_object(row)) for field in row._meta.concrete_fields
    }


def from_data(model: type[M], data: Mapping[str, Any]) -> M:
    """The row that was; fields that the model has got since have their defaults."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    return model(
        **{name: fields[name].to_python(value) for name, value in data.items() if name in fields}
    )


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _model(row: Model) -> dict[str, str]:
    return {"model": row._meta.label_lower}


def _plain(value: Any) -> Any:
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value


def _record(
    access: Access,
    kind: ChangeKind,
    target: Model,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Of tokens, and of people where the page they use offers an undo."""
    if access.recorded_as is not None:
        _change(access, access.recorded_as, kind, target, before=before, after=after).save()


def _change(
    access: Access,
    recorded_as: UUID,
    kind: ChangeKind,
    target: Model,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> Change:
    return Change(
        owner_id=access.owner_id,
        token_id=recorded_as,
        kind=kind,
        target=target.pk,
        title=str(target)[:2000],
        before=dict(before or {}),
        after=dict(after or {}),
    )
