"""What a caller may do with the items and folders it can see."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q
from django.db.models.functions import Lower

from knowledge import ingestion, pipeline
from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput, NameTaken, NotFound, OutOfScope
from knowledge.ingestion import MAX_TITLE
from knowledge.models import Filing, Folder, Item, ItemType, Visibility
from knowledge.models.folder import FolderQuerySet
from knowledge.models.item import ItemQuerySet
from knowledge.validation import as_moment, clean_line, clean_tags, clean_text, one_of, within

MAX_RECENT = 100
MAX_PER_PAGE = 100
MAX_PAGE = 1_000_000
MAX_FOLDER_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """How a listing is narrowed; what is left None does not narrow."""

    folder_id: UUID | None = None
    archived: bool | None = None
    in_kb: bool | None = None
    type: str | None = None
    tag: str | None = None
    q: str | None = None
    since: str | datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChanges:
    """What to change about an item; what is left None stays."""

    title: str | None = None
    tags: Collection[str] | None = None
    in_kb: bool | None = None
    archived: bool | None = None
    visibility: str | None = None

    def checked(self) -> dict[str, Any]:
        """The model's fields to set, each within its rule."""
        fields: dict[str, Any] = {"in_kb": self.in_kb, "archived": self.archived}
        if self.title is not None:
            fields["custom_title"] = clean_line(self.title, field="title", longest=MAX_TITLE)
        if self.tags is not None:
            fields["tags"] = clean_tags(self.tags)
        if self.visibility is not None:
            fields["visibility"] = one_of(self.visibility, Visibility.values, field="visibility")
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing, and how long the whole of it is."""

    items: list[Item]
    total: int
    page: int
    per_page: int


def list_recent(access: Access, *, limit: int = 20) -> list[Item]:
    """The newest items the caller may see."""
    access.require(Capability.READ)
    within(limit, field="limit", low=1, high=MAX_RECENT)
    items = Item.objects.visible_to(access).filter(archived=False)
    return list(_without_texts(_for_display(items, access)).newest_first()[:limit])


def list_items(access: Access, filters: ItemFilter, *, page: int = 1, per_page: int = 20) -> Page:
    """One page of the items the caller may see, newest first."""
    access.require(Capability.READ)
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    items = Item.objects.visible_to(access).filter(_matching(access, filters))
    start = (page - 1) * per_page
    rows = _without_texts(_for_display(items, access)).newest_first()[start : start + per_page]
    return Page(list(rows), items.count(), page, per_page)


def get_item(access: Access, item_id: UUID) -> Item:
    """One item with its content, and the folders the caller may know it is in."""
    access.require(Capability.READ)
    return _visible(access, item_id)


def update_item(access: Access, item_id: UUID, changes: ItemChanges) -> Item:
    """Change what is given; leaving the knowledge base removes the chunks, joining makes them."""
    access.require(Capability.WRITE)
    if changes.in_kb is False and access.kb_only:
        raise InvalidInput("A kb_only token keeps items in the knowledge base.", field="in_kb")
    fields = changes.checked()
    ready = None
    if _needs_indexing(before := _visible(access, item_id), fields):
        ready = ingestion.prepare(before.content.text, fields.get("custom_title", before.title))
    with transaction.atomic():
        item = _visible(access, item_id, for_update=True)
        must_index = _needs_indexing(item, fields)
        for name, value in fields.items():
            setattr(item, name, value)
        item.save()
        if not item.in_kb:
            pipeline.remove_from_index(item)
        elif must_index:
            # Unprepared only when another caller changed the item since we looked.
            ingestion.index(item, ready or ingestion.cut(item.content.text))
    return _visible(access, item_id)


@transaction.atomic
def delete_item(access: Access, item_id: UUID) -> None:
    """Delete an item with its chunks, and its content unless others share it."""
    access.require(Capability.WRITE)
    item = _visible(access, item_id, for_update=True)
    _delete(item)


@transaction.atomic
def file_item(access: Access, item_id: UUID, folder_ids: Collection[UUID]) -> Item:
    """Put an item in folders; every folder must be within the caller's reach."""
    access.require(Capability.WRITE)
    if not folder_ids:
        raise InvalidInput("folder_ids must name at least one folder.", field="folder_ids")
    item = _visible(access, item_id, for_update=True)
    folders = list(Folder.objects.visible_to(access).filter(pk__in=folder_ids))
    if missing := set(folder_ids) - {folder.pk for folder in folders}:
        raise OutOfScope(missing)
    item.folders.add(*folders)
    item.unfiled_by = None
    item.save(update_fields=["unfiled_by", "updated_at"])
    return _visible(access, item_id)


@transaction.atomic
def unfile_item(access: Access, item_id: UUID, folder_id: UUID) -> None:
    """Take an item out of a folder; taking it out twice is the same as once."""
    access.require(Capability.WRITE)
    item = _visible(access, item_id, for_update=True)
    folder = _visible_folder(access, folder_id)
    Filing.objects.visible_to(access).filter(item=item, folder=folder).delete()


def list_folders(access: Access) -> list[Folder]:
    """The caller's folders by name, with what it can see in each."""
    access.require(Capability.READ)
    return list(_with_counts(Folder.objects.visible_to(access), access).order_by(Lower("name")))


def create_folder(access: Access, name: str) -> Folder:
    """Make a folder; a scoped token may not, for its scope never grows."""
    access.require(Capability.WRITE)
    access.require_whole_library()
    name = clean_line(name, field="name", longest=MAX_FOLDER_NAME)
    with _unique_name():
        folder = Folder.objects.create(owner_id=access.owner_id, name=name)
    return get_folder(access, folder.pk)


def rename_folder(access: Access, folder_id: UUID, name: str) -> Folder:
    """Give a folder another name."""
    access.require(Capability.WRITE)
    folder = _visible_folder(access, folder_id)
    folder.name = clean_line(name, field="name", longest=MAX_FOLDER_NAME)
    with _unique_name():
        folder.save(update_fields=["name"])
    return get_folder(access, folder_id)


@transaction.atomic
def delete_folder(access: Access, folder_id: UUID, *, cascade_items: bool = False) -> None:
    """Delete a folder; its items stay, unfiled from it, unless they are to go with it."""
    access.require(Capability.WRITE)
    access.require_whole_library()
    folder = _visible_folder(access, folder_id)
    if cascade_items:
        filed = Item.objects.visible_to(access).filter(folders=folder)
        for item in filed.select_for_update(of=("self",)):
            _delete(item)
    folder.delete()


def get_folder(access: Access, folder_id: UUID) -> Folder:
    """One folder with what the caller can see in it."""
    folder = _with_counts(Folder.objects.visible_to(access), access).filter(pk=folder_id).first()
    if folder is None:
        raise _no_such("folder")
    return folder


def folder_by_name_or_id(access: Access, name_or_id: str) -> Folder:
    """A folder as people name it: its name in any case, or its id."""
    folders = Folder.objects.visible_to(access)
    folder = folders.filter(name__iexact=name_or_id).first()
    if folder is None and (folder_id := _uuid_or_none(name_or_id)):
        folder = folders.filter(pk=folder_id).first()
    if folder is None:
        names = ", ".join(repr(each.name) for each in folders) or "none yet"
        raise NotFound(
            f"There is no folder {name_or_id!r}; there are: {names}. "
            "The admin and POST /api/v1/folders make folders."
        )
    return folder


def _visible(access: Access, item_id: UUID, *, for_update: bool = False) -> Item:
    items = Item.objects.visible_to(access)
    if for_update:
        items = items.select_for_update(of=("self",))
    item = _for_display(items, access).filter(pk=item_id).first()
    if item is None:
        raise _no_such("item")
    return item


def _visible_folder(access: Access, folder_id: UUID) -> Folder:
    folder = Folder.objects.visible_to(access).filter(pk=folder_id).first()
    if folder is None:
        raise _no_such("folder")
    return folder


def _uuid_or_none(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


def _no_such(what: str) -> NotFound:
    return NotFound(f"No such {what}, or it is out of this token's reach.")


def _for_display(items: ItemQuerySet, access: Access) -> ItemQuerySet:
    return items.select_related("content").with_folders_for(access)


def _without_texts(items: ItemQuerySet) -> ItemQuerySet:
    """A listing shows no text: a hundred long ones would be read for nothing."""
    return items.defer("content__text", "content__locators")


def _matching(access: Access, filters: ItemFilter) -> Q:
    condition = Q()
    if filters.folder_id is not None:
        condition &= Q(folders=_visible_folder(access, filters.folder_id))
    if filters.archived is not None:
        condition &= Q(archived=filters.archived)
    if filters.in_kb is not None:
        condition &= Q(in_kb=filters.in_kb)
    if filters.type is not None:
        condition &= Q(type=one_of(filters.type, ItemType.values, field="type"))
    if filters.tag is not None:
        condition &= Q(tags__contains=clean_tags([filters.tag]))
    if filters.q is not None:
        words = clean_text(filters.q, field="q", shortest=1, longest=200)
        condition &= Q(custom_title__icontains=words) | Q(
            custom_title="", content__title__icontains=words
        )
    if filters.since is not None:
        condition &= Q(created_at__gte=as_moment(filters.since, field="since"))
    return condition


def _needs_indexing(item: Item, fields: Mapping[str, Any]) -> bool:
    """Whether these changes bring the item into the index, or change what it says there."""
    joins = fields.get("in_kb", item.in_kb) and not item.in_kb
    renamed = fields.get("custom_title", item.title) != item.title
    return joins or (renamed and bool(fields.get("in_kb", item.in_kb)))


def _with_counts(folders: FolderQuerySet, access: Access) -> FolderQuerySet:
    seen = Q(filings__item__in=Item.objects.visible_to(access))
    return folders.annotate(
        item_count=Count("filings", filter=seen),
        last_added_at=Max("filings__filed_at", filter=seen),
    )


def _delete(item: Item) -> None:
    pipeline.remove_from_index(item)
    content = item.content
    item.delete()
    if not content.items.exists():
        content.delete()


@contextmanager
def _unique_name() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise NameTaken("There is a folder of that name already.", field="name") from None
