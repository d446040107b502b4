"""Adding a text or a link: checked, found or fetched, prepared, then written at once."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, TypedDict, Unpack
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import ForbiddenBinary, IngestFailed, InvalidInput
from knowledge.indexing.preparing import Prepared, prepare
from knowledge.ingest import contents
from knowledge.ingest.items import MAX_TITLE, ItemOptions, create_item, create_text_item
from knowledge.models import Content, Folder, Item, Transform
from knowledge.monitoring.metrics import INGESTED
from knowledge.sources import canonical, links
from knowledge.sources.addresses import read_url
from knowledge.sources.extracted import Extracted, FetchedLink, Recording
from knowledge.validation import (
    UPLOAD_INSTEAD,
    clean_line,
    clean_tags,
    clean_text,
    one_of,
    refuse_blob,
)

KINDS = ("text", "url")
MIN_TEXT = 20
MAX_TEXT = 500_000
MAX_URL = 4_000


@dataclass(frozen=True, slots=True)
class AddedItem:
    """What became of an addition: the item, where it was filed, and why it has no transform."""

    item: Item
    folder_id: UUID | None
    transform_error: str | None

    @classmethod
    def of(cls, access: Access, item: Item, folder_id: UUID | None) -> Self:
        error = Transform.objects.filter(item=item).values_list("error", flat=True).first()
        return cls(item, folder_id or access.filing_folder_id, error or None)

    @classmethod
    def of_new(cls, access: Access, item: Item, options: ItemOptions) -> Self:
        """Of an item that was written just now, which has no transform but one asked for."""
        if options.auto_transform:
            return cls.of(access, item, options.folder_id)
        return cls(item, options.folder_id or access.filing_folder_id, None)


def add_to_knowledge(
    access: Access,
    *,
    kind: str,
    text: str | None = None,
    url: str | None = None,
    **given: "Unpack[AddOptions]",
) -> AddedItem:
    """Add what the caller sent, by its kind; into a folder within its reach, if it names one."""
    access.require(Capability.WRITE)
    check_kind(kind)
    if kind == "text":
        require_value(given.get("title"), "title", kind)
    options = check_options(access, **given)
    if kind == "url":
        link = require_value(url, "url", kind)
        item = add_link(access, options, find=lambda: find_or_fetch(link))
        return AddedItem.of(access, item, options.folder_id)
    item = _add_text(access, require_value(text, "text", kind), options)
    return AddedItem.of_new(access, item, options)


def add_text(
    access: Access, *, title: str, text: str, in_kb: bool = True, tags: Collection[str] = ()
) -> Item:
    """Add a text: whole or not at all, found by word at once and by meaning soon after."""
    access.require(Capability.WRITE)
    return _add_text(access, text, check_options(access, title=title, in_kb=in_kb, tags=tags))


def _add_text(access: Access, text: str, options: ItemOptions) -> Item:
    text = check_text(text)
    prepared = prepare(text, options.title) if options.in_kb else None
    with transaction.atomic():
        return create_text_item(access, text, options, prepared)


@contextmanager
def _count_failed_links() -> Iterator[None]:
    try:
        yield
    except IngestFailed:
        INGESTED.labels("link", "failed").inc()
        raise


@_count_failed_links()
def add_link(access: Access, options: ItemOptions, *, find: "Callable[[], FoundLink]") -> Item:
    """Add what a link leads to; what somebody added before is shared and costs nothing.

    `find` looks for it, and may refuse what it finds.
    """
    access.require(Capability.WRITE)
    item = None
    while item is None:  # what was found may be deleted, or fail, before it is locked
        link = find()
        prepared = _prepare_link(link, options)
        with transaction.atomic():
            content = _lock_or_save(access, link)
            item = create_item(access, content, options, prepared) if content else None
    return item


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLink:
    """What a link leads to: a shared content that is there, or what was fetched now."""

    key: str
    kind: str
    source: Content | Extracted | Recording
    fetched: FetchedLink | None = None
    """None when the address itself was known."""


def find_or_fetch(url: str) -> FoundLink:
    """What a link leads to; what somebody added before is not fetched again."""
    url = _clean_url(url)
    key = _key_of(url)
    if known := Content.objects.find_shared(key):
        return FoundLink(key=key, kind=known.kind, source=known)
    fetched = links.open_link(url)
    # The final address may be known already; then the text of that content is the one to index.
    if known := Content.objects.find_shared(fetched.key):
        return FoundLink(key=key, kind=known.kind, source=known, fetched=fetched)
    return FoundLink(key=key, kind=fetched.kind, source=fetched.found, fetched=fetched)


def _prepare_link(link: FoundLink, options: ItemOptions) -> Prepared | None:
    source = link.source
    if not options.in_kb or isinstance(source, Recording) or not source.text:
        return None
    title = options.title or source.title
    return prepare(source.text, title, language=source.language, places=source.locators)


def _lock_or_save(access: Access, link: FoundLink) -> Content | None:
    """The content of a link, locked; None if it was deleted, or failed, meanwhile."""
    if link.fetched:
        return contents.save_fetched(access.owner_id, link.key, link.fetched)
    return contents.lock_known(link.source) if isinstance(link.source, Content) else None


# What the caller sent, checked -------------------------------------------------------------------


def check_kind(kind: str) -> None:
    """Refuse what is neither a text nor a link."""
    if kind == "file":
        raise ForbiddenBinary(f"Files are not taken here. {UPLOAD_INSTEAD}")
    one_of(kind, KINDS, field="kind")


def require_value(value: str | None, field: str, kind: str) -> str:
    """The value of a field that an addition of this kind cannot do without."""
    if value is None or (field == "url" and not str(value).strip()):
        raise InvalidInput(f'{field} is required when kind is "{kind}".', field=field)
    return value


class AddOptions(TypedDict, total=False):
    """What a caller may say of what it adds, whatever that is; not checked yet."""

    title: str | None
    in_kb: bool
    tags: Collection[str]
    auto_transform: bool
    folder_id: UUID | None


def check_options(access: Access, **given: Unpack[AddOptions]) -> ItemOptions:
    """The options within the rules: a kb_only token adds to the knowledge base in any case."""
    title, folder_id = given.get("title"), given.get("folder_id")
    if folder_id:
        Folder.objects.visible_to(access).all_of([folder_id])
    return ItemOptions(
        title="" if title is None else clean_line(title, field="title", longest=MAX_TITLE),
        in_kb=given.get("in_kb", True) or access.kb_only,
        tags=tuple(clean_tags(given.get("tags", ()))),
        auto_transform=given.get("auto_transform", False),
        folder_id=folder_id,
    )


def check_text(text: str) -> str:
    """A text of a length that is taken, and no file in the guise of one."""
    refuse_blob(text)
    return clean_text(text, field="text", shortest=MIN_TEXT, longest=MAX_TEXT)


def _clean_url(url: str) -> str:
    if url.lstrip()[:5].lower() == "data:":
        raise ForbiddenBinary(f"data: URLs are not taken. {UPLOAD_INSTEAD}")
    return clean_text(url, field="url", shortest=1, longest=MAX_URL).strip()


def _key_of(url: str) -> str:
    """The address's key; one that could never be opened is the caller's mistake."""
    try:
        read_url(canonical.unwrap_amp(url))
        return canonical.key(url)
    except IngestFailed as error:
        if error.details.get("reason") != "bad_url":
            raise
        raise InvalidInput(error.message, field="url") from None
