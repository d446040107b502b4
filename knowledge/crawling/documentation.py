"""Documentation sources: sites that are crawled page by page, and kept up to date."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.crawling import actors, crawl
from knowledge.errors import (
    Conflict,
    IngestFailed,
    InvalidInput,
    NameTaken,
    not_found,
)
from knowledge.ledger import changes
from knowledge.library import items as library
from knowledge.library.items import MAX_PAGE, MAX_PER_PAGE
from knowledge.models import Folder, Item, PageState, Source, SourcePage
from knowledge.models.documentation import MAX_DEPTH, MAX_PAGES
from knowledge.models.locking import lock_contents_of, lock_counted_rows
from knowledge.models.naming import get_by_name_or_id
from knowledge.sources.addresses import read_url
from knowledge.sources.extracted import MAX_PAGE_URL
from knowledge.validation import clean_line, clean_text, one_of, within

MAX_NAME = 200
MAX_PATTERNS = 50
MAX_PATTERN = 200
MAX_SOURCES = 200
DEPTH = 3
PAGES = 100

_SETTINGS = ("name", "include", "exclude", "depth", "max_pages")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChanges:
    """Changes to a source; a field that is None stays as it is."""

    name: str | None = None
    include: Collection[str] | None = None
    exclude: Collection[str] | None = None
    depth: int | None = None
    max_pages: int | None = None

    def checked_fields(self) -> dict[str, Any]:
        """The model's fields to set, each within its rule."""
        fields: dict[str, Any] = {}
        if self.name is not None:
            fields["name"] = clean_line(self.name, field="name", longest=MAX_NAME)
        if self.include is not None:
            fields["include"] = _patterns(self.include, "include")
        if self.exclude is not None:
            fields["exclude"] = _patterns(self.exclude, "exclude")
        if self.depth is not None:
            fields["depth"] = within(self.depth, field="depth", low=1, high=MAX_DEPTH)
        if self.max_pages is not None:
            fields["max_pages"] = within(self.max_pages, field="max_pages", low=1, high=MAX_PAGES)
        return fields


@dataclass(frozen=True, slots=True)
class Pages:
    """One page of a listing of pages, and how long the whole of it is."""

    pages: list[SourcePage]
    total: int
    page: int
    per_page: int


def list_sources(access: Access) -> list[Source]:
    """The sources that the caller may see by name, with how far each is."""
    access.require(Capability.READ)
    return list(Source.objects.visible_to(access).with_progress().order_by("name", "pk"))


def get_source(access: Access, source_id: UUID) -> Source:
    """One source, with how far its crawl is."""
    access.require(Capability.READ)
    source = Source.objects.visible_to(access).with_progress().filter(pk=source_id).first()
    if source is None:
        raise not_found("source")
    return source


def list_pages(
    access: Access,
    source_id: UUID,
    *,
    state: str | None = None,
    page: int = 1,
    per_page: int = 20,
) -> Pages:
    """A source's addresses, what came of each, and its item where the caller sees that."""
    access.require(Capability.READ)
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    pages = _visible(access, source_id).pages.order_by("rank", "depth", "url")
    if state is not None:
        pages = pages.filter(state=one_of(state, PageState.values, field="state"))
    start = (page - 1) * per_page
    rows = list(pages[start : start + per_page])
    _hide_items(access, rows)
    return Pages(rows, pages.count(), page, per_page)


@transaction.atomic
def add_source(
    access: Access,
    *,
    name: str,
    start_url: str,
    include: Collection[str] = (),
    exclude: Collection[str] = (),
    depth: int = DEPTH,
    max_pages: int = PAGES,
    folder_id: UUID | None = None,
) -> Source:
    """Add a site, and begin its first crawl."""
    access.require(Capability.WRITE)
    wished = SourceChanges(
        name=name, include=include, exclude=exclude, depth=depth, max_pages=max_pages
    )
    fields = {**wished.checked_fields(), "start_url": _start(start_url)}
    folder_id = _choose_folder(access, folder_id)
    lock_counted_rows(access.owner_id)
    _refuse_taken_name(access, fields["name"])
    if Source.objects.visible_to(access).count() >= MAX_SOURCES:
        raise Conflict(f"There are {MAX_SOURCES} sources already; delete one first.")
    source = Source.objects.create(
        owner_id=access.owner_id,
        folder_id=folder_id,
        added_by_token=access.token_id,
        added_by_agent=access.agent_id,
        **fields,
    )
    changes.row_added(access, source, fields=(*_SETTINGS, "start_url"))
    actors.start_crawl(source.pk)
    return get_source(access, source.pk)


@transaction.atomic
def crawl_again(access: Access, source_id: UUID) -> Source:
    """Begin another crawl, which fetches only what has changed; one that runs is joined."""
    access.require(Capability.WRITE)
    actors.start_crawl(_visible(access, source_id).pk)
    return get_source(access, source_id)


@transaction.atomic
def update_source(access: Access, source_id: UUID, wished: SourceChanges) -> Source:
    """Change what is given; patterns, depth and number of pages hold from the next page on."""
    access.require(Capability.WRITE)
    fields = wished.checked_fields()
    lock_counted_rows(access.owner_id)
    source = crawl.lock_source(_visible(access, source_id).pk)
    if source is None:
        raise not_found("source")
    if "name" in fields:
        _refuse_taken_name(access, fields["name"], but=source_id)
    before = _settings_of(source)
    for name, value in fields.items():
        setattr(source, name, value)
    source.save(update_fields=[*fields, "changed_at"])
    changes.row_changed(access, source, before)
    return get_source(access, source_id)


@transaction.atomic
def delete_source(access: Access, source_id: UUID, *, delete_items: bool = False) -> None:
    """Delete a source and what is known of its pages; their items stay unless they are to go."""
    access.require(Capability.WRITE)
    _visible(access, source_id)
    items = Item.objects.visible_to(access).filter(source_page__source=source_id)
    if delete_items:
        lock_contents_of(items)
    source = crawl.lock_source(source_id)
    if source is None:
        raise not_found("source")
    item_ids = list(items.values_list("pk", flat=True)) if delete_items else []
    # In this order, for it is undone in the other: an item, its source, and then its page.
    for page in source.pages.all():
        changes.row_deleted(access, page)
    changes.row_deleted(access, source)
    source.delete()
    for item_id in item_ids:
        library.delete_item(access, item_id)


def source_named(access: Access, name_or_id: str) -> Source:
    """A source as people name it: its name in any case, or its id."""
    access.require(Capability.READ)
    sources = Source.objects.visible_to(access)
    return get_by_name_or_id(sources, name_or_id, noun="source")


def _visible(access: Access, source_id: UUID) -> Source:
    source = Source.objects.visible_to(access).filter(pk=source_id).first()
    if source is None:
        raise not_found("source")
    return source


def _refuse_taken_name(access: Access, name: str, *, but: UUID | None = None) -> None:
    """Only sources that the caller sees take a name, so that it tells of no hidden one.

    Called with the owner's rows locked, or two calls would both find it free.
    """
    named = Source.objects.visible_to(access).filter(name__iexact=name)
    if any(pk != but for pk in named.values_list("pk", flat=True)):
        raise NameTaken(
            "There is a source of that name already; refresh that one by its id, or choose "
            "another name.",
            field="name",
        )


def _hide_items(access: Access, pages: Collection[SourcePage]) -> None:
    """Name no item to a caller that does not see it."""
    named = {page.item_id for page in pages if page.item_id}
    seen = set(Item.objects.visible_to(access).filter(pk__in=named).values_list("pk", flat=True))
    for page in pages:
        page.item_id = page.item_id if page.item_id in seen else None


def _start(url: str) -> str:
    url = clean_text(url, field="start_url", shortest=1, longest=MAX_PAGE_URL).strip()
    try:
        return read_url(url.partition("#")[0]).url
    except IngestFailed as error:
        raise InvalidInput(error.message, field="start_url") from None


def _patterns(given: Collection[str], field: str) -> list[str]:
    if len(given) > MAX_PATTERNS:
        raise InvalidInput(f"{field} may be at most {MAX_PATTERNS}.", field=field)
    patterns = [
        clean_text(pattern, field=field, shortest=1, longest=MAX_PATTERN) for pattern in given
    ]
    for pattern in patterns:
        if not pattern.startswith(("/", "*")):
            raise InvalidInput(
                f"Each of {field} must begin with / or *, such as /docs/* or *.html.", field=field
            )
    return list(dict.fromkeys(patterns))


def _choose_folder(access: Access, folder_id: UUID | None) -> UUID | None:
    """Where the pages go: a token that reaches several folders must say in which."""
    if folder_id is not None:
        Folder.objects.visible_to(access).lock_all_of([folder_id])
        return folder_id
    if access.folder_ids is None or access.filing_folder_id is not None:
        return access.filing_folder_id
    raise InvalidInput(
        "folder_id is required, since this token reaches several folders; name one of them.",
        field="folder_id",
        allowed=sorted(str(each) for each in access.folder_ids),
    )


def _settings_of(source: Source) -> dict[str, Any]:
    data = changes.as_data(source)
    return {name: data[name] for name in _SETTINGS}
