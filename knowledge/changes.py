"""The record of what tokens write: made in the transaction of each write, to revert it by."""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model
from django.utils import timezone

from knowledge.access import Access
from knowledge.models import Change, ChangeKind, Filing, Folder, Item, Transform, Webhook

KEPT_FOR = timedelta(days=30)
"""How long what a token wrote can be undone, and what it deleted is held for that."""

ITEM_FIELDS = ("type", "custom_title", "in_kb", "tags", "attributes", "visibility", "archived")
"""What people and agents change about an item; the rest follows from its content."""

WEBHOOK_FIELDS = ("url", "events", "is_active")

M = TypeVar("M", bound=Model)


# What was written -----------------------------------------------------------------------------


def item_added(access: Access, item: Item, filings: Iterable[Filing]) -> None:
    after = {**values_of(item, ITEM_FIELDS), "filings": [filing.pk for filing in filings]}
    _record(access, ChangeKind.ITEM_ADDED, item, after=after)


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


def item_deleted(access: Access, item: Item) -> None:
    """All there is of an item that is about to be deleted; its chunks are made anew."""
    if access.token_id is None:
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
        },
    )


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
    if access.token_id is None:
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


def _plain(value: Any) -> Any:
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value


def _record(
    access: Access,
    kind: ChangeKind,
    target: Item | Folder | Webhook,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Only of tokens: what people do, they undo themselves."""
    if access.token_id is None:
        return
    Change.objects.create(
        owner_id=access.owner_id,
        token_id=access.token_id,
        kind=kind,
        target=target.pk,
        title=str(target),
        before=dict(before or {}),
        after=dict(after or {}),
    )
