"""The outcomes of a page visit: each is one transaction with the page's item and links.

To avoid deadlock, rows are locked in one order: content, item, folder, then the source. If the
crawl was ended, locking the source shows it, and nothing of the page is stored.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from django.db import transaction
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.crawling import frontier
from knowledge.crawling.frontier import Address
from knowledge.crawling.page_fetch import Read, Redirect
from knowledge.crawling.site import Site
from knowledge.errors import QuarryError
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest.contents import set_text
from knowledge.ingest.items import ItemOptions, create_item, rewrite_item
from knowledge.jobs.notices import Topic, tell_owner
from knowledge.ledger import changes
from knowledge.models import Content, CrawlState, Item, PageState, Source, SourcePage
from knowledge.models.locking import lock_item
from knowledge.sources import canonical
from knowledge.sources.extracted import Extracted
from knowledge.validation import make_storable

DELETED = "deleted"


class CrawlAbandoned(Exception):
    """The crawl was ended, or its source deleted, while this page was read."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One page of a source, and the site that it was asked of."""

    site: Site
    source: Source
    page: SourcePage

    @property
    def access(self) -> Access:
        """Who wrote what this page becomes: the token that added the source."""
        source = self.source
        return Access(
            owner_id=source.owner_id,
            capabilities=frozenset(Capability),
            folder_ids=None if source.folder_id is None else frozenset({source.folder_id}),
            token_id=source.added_by_token,
            agent_id=source.added_by_agent,
        )

    @property
    def was_deleted(self) -> bool:
        """Whether somebody deleted the page's item; a crawl then does not create it again."""
        lost = self.page.state == PageState.KEPT and self.page.item_id is None
        return lost or self.page.reason == DELETED


def store_page(visit: Visit, read: Read, extracted: Extracted) -> None:
    """Make or mend the page's item, unless another page says the very same."""
    digest = hashlib.sha256(extracted.text.encode()).hexdigest()
    twin = _twin(visit, digest)
    if visit.was_deleted:
        mark_skipped(visit, reason=DELETED, links=read.links)
    elif twin is not None:
        mark_duplicate(visit, read, as_key=twin.key, reason="same_text", digest=digest)
    else:
        _keep_text(visit, read, extracted, digest)


def mark_duplicate(visit: Visit, read: Read, *, as_key: str, reason: str, digest: str = "") -> None:
    """Another page of the source says this; the page stands for that one."""
    with transaction.atomic():
        _put_item_away(visit)
        _record_outcome(
            visit,
            PageState.SAME,
            reason=reason,
            same_as=as_key,
            digest=digest,
            etag=read.etag,
            last_modified=read.last_modified,
        )
        if read.canonical is not None and read.canonical.key == as_key:
            _add(visit, read.canonical)
        _add_links(visit, read.links)


def move(visit: Visit, moved: Redirect, to: Address) -> None:
    """The page is to be found at another address of the source, which is asked for next."""
    if visit.page.item_id and not moved.is_lasting:
        mark_unread(visit, reason="moved", error=f"It sends to {moved.url} for the time being.")
        return
    with transaction.atomic():
        _put_item_away(visit)
        forgotten = {"digest": "", "etag": "", "last_modified": ""}
        _record_outcome(visit, PageState.SAME, reason="redirect", same_as=to.key, **forgotten)
        _add(visit, to)


def mark_unchanged(visit: Visit) -> None:
    """The page is unchanged; if it was gone before, its item is restored."""
    page = visit.page
    if page.state == PageState.SAME:
        _record_only(visit, PageState.SAME, reason=page.reason)
        return
    with transaction.atomic():
        item = _lock_item_and_content(visit)
        if item is not None:
            _bring_back(visit, item)
        _record_outcome(visit, PageState.KEPT)


def mark_gone(visit: Visit, error: QuarryError) -> None:
    """There is nothing at the address any more; its item is archived."""
    has_item = visit.page.item_id is not None
    with transaction.atomic():
        _put_item_away(visit)
        state = PageState.GONE if has_item else PageState.FAILED
        _record_outcome(visit, state, reason="gone", error=error.message, etag="", last_modified="")


def mark_skipped(visit: Visit, *, reason: str, error: str = "", links: Iterable[str] = ()) -> None:
    """The page is not to be kept; an item that it has is archived."""
    with transaction.atomic():
        _put_item_away(visit)
        _record_outcome(
            visit, PageState.SKIPPED, reason=reason, error=error, etag="", last_modified=""
        )
        _add_links(visit, links)


def mark_unread(
    visit: Visit,
    *,
    reason: str,
    error: str,
    otherwise: PageState = PageState.SKIPPED,
    links: Iterable[str] = (),
) -> None:
    """Nothing could be learnt this time: an item that it has stays as it is."""
    state = PageState(visit.page.state) if visit.page.item_id else otherwise
    with transaction.atomic():
        _record_outcome(visit, state, reason=reason, error=error)
        _add_links(visit, links)


def postpone(visit: Visit, error: QuarryError) -> None:
    """Ask for the page once more, later in this crawl."""
    SourcePage.objects.filter(pk=visit.page.pk).update(
        fetched_at=timezone.now(), error=error.message
    )


def _keep_text(visit: Visit, read: Read, extracted: Extracted, digest: str) -> None:
    title = _title(extracted, read.url)
    page, ready = visit.page, None
    if digest != page.digest or page.item_id is None:
        ready = preparing.prepare(extracted.text, title)
    with transaction.atomic():
        item = _lock_item_and_content(visit)
        if item is not None:
            _rewrite(visit, item, extracted, title, ready)
            _bring_back(visit, item)
        elif page.item_id is not None:
            told = "Its item was taken out of the source's folder, and is left as it is."
            _record_outcome(visit, PageState(page.state), reason="out_of_reach", error=told)
            return
        else:
            item = _new_item(visit, read, extracted, title, ready)
        _record_outcome(
            visit,
            PageState.KEPT,
            item=item,
            url=read.url,
            same_as="",
            digest=digest,
            etag=read.etag,
            last_modified=read.last_modified,
        )
        _add_links(visit, read.links)


def _title(extracted: Extracted, url: str) -> str:
    told = " ".join(make_storable(extracted.title).split())
    return (told or unquote(urlsplit(url).path).strip("/") or urlsplit(url).netloc)[:500]


def _new_item(
    visit: Visit, read: Read, extracted: Extracted, title: str, ready: Prepared | None
) -> Item:
    content = Content(
        owner_id=visit.source.owner_id,
        kind=read.kind,
        url=canonical.address_for_people(read.url),
        title=title,
    )
    set_text(content, extracted)
    content.title = title
    content.save()
    return create_item(
        visit.access, content, ItemOptions(title=title, folder_id=visit.source.folder_id), ready
    )


def _rewrite(
    visit: Visit, item: Item, extracted: Extracted, title: str, ready: Prepared | None
) -> None:
    content = item.content
    if (content.title, content.text) == (title, extracted.text):
        return
    told = Content()
    set_text(told, extracted)
    content.locators, content.published_at = told.locators, told.published_at
    content.save(update_fields=["locators", "published_at"])
    rewrite_item(visit.access, item, title=title, text=extracted.text, prepared=ready)


def _lock_item_and_content(visit: Visit) -> Item | None:
    """The page's item, locked; None if there is none to be changed."""
    if visit.page.item_id is None:
        return None
    return lock_item(Item.objects.visible_to(visit.access), visit.page.item_id)


def _put_item_away(visit: Visit) -> None:
    item = _lock_item_and_content(visit)
    if item is not None:
        _set_archived(visit, item, True)


def _bring_back(visit: Visit, item: Item) -> None:
    """Unarchive what the crawl has archived; what its owner has, stays."""
    if visit.page.state != PageState.KEPT:
        _set_archived(visit, item, False)


def _set_archived(visit: Visit, item: Item, archived: bool) -> None:
    before = changes.values_of(item, ("archived",))
    if item.archived != archived:
        item.archived = archived
        item.save(update_fields=["archived", "updated_at"])
        changes.item_changed(visit.access, item, before)


def _record_only(visit: Visit, state: PageState, *, reason: str) -> None:
    with transaction.atomic():
        _record_outcome(visit, state, reason=reason)


def _record_outcome(
    visit: Visit, state: PageState, *, reason: str = "", error: str = "", **fields: Any
) -> None:
    """Write down what came of the page, once it is sure that the crawl still runs."""
    source, now = visit.source, timezone.now()
    running = Source.objects.filter(pk=source.pk, crawl=source.crawl, state=CrawlState.CRAWLING)
    if not running.select_for_update(no_key=True).values_list("pk").first():
        raise CrawlAbandoned
    unseen = SourcePage.objects.filter(pk=visit.page.pk, seen_in__lt=source.crawl)
    told = {"state": state, "reason": reason[:40], "error": error, **fields}
    if not unseen.update(seen_in=source.crawl, fetched_at=now, tries=0, **told):
        raise CrawlAbandoned
    running.update(changed_at=now, outages=0)
    tell_owner(source.owner_id, Topic.SOURCES)


def _add(visit: Visit, address: Address) -> None:
    if frontier.fits(visit.source, address.url):
        page = visit.page
        frontier.add_one(visit.source, address, depth=page.depth, rank=page.rank)


def _add_links(visit: Visit, links: Iterable[str]) -> None:
    frontier.add_links(visit.site, visit.source, links, depth=visit.page.depth + 1)


def _twin(visit: Visit, digest: str) -> SourcePage | None:
    """Another page of the source that has an item with the same text."""
    kept = visit.source.pages.filter(state=PageState.KEPT, item__isnull=False, digest=digest)
    return kept.exclude(pk=visit.page.pk).first()
