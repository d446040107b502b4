"""The addresses of a source that are known, and which of them comes next.

Pages of the site's own lists come first, then those nearer to the start, so that endless links are
cut when the limit of pages is reached.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from urllib.parse import unquote, urlsplit

from django.db.models import Case, F, IntegerField, QuerySet, Value, When
from django.db.models.functions import Length
from django.utils import timezone

from knowledge.crawling.patterns import is_wanted
from knowledge.crawling.site import Site
from knowledge.errors import IngestFailed
from knowledge.models import PageState, Source, SourcePage
from knowledge.sources import canonical
from knowledge.sources.addresses import read_url
from knowledge.sources.extracted import MAX_PAGE_URL

LOOKS_A_PAGE = 3
"""Addresses that may be asked for, for each page that may be kept: some lead nowhere new."""
KNOWN_A_PAGE = 5
"""Addresses that are remembered, for each page that may be kept."""
MANY_ALIKE = 20
MAX_TRIES = 3
RETRY_SEC = 30

_NO_PAGES = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|svg|ico|bmp|tiff?|css|js|mjs|map|json|xml|rss|atom|woff2?|ttf|"
    r"otf|eot|zip|gz|tgz|bz2|xz|7z|rar|tar|whl|jar|exe|dmg|pkg|deb|rpm|msi|iso|bin|mp[34]|m4[av]|"
    r"webm|ogg|wav|flac|avi|mov|mkv)$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")


class Rank(IntEnum):
    """Who told of a page: the lower, the sooner it is asked for."""

    START = 0
    TOLD = 1
    LINKED = 2
    TOLD_ELSEWHERE = 3
    LINKED_ELSEWHERE = 4
    ALIKE = 5
    """One of very many that differ in a number alone, such as the days of a calendar."""


@dataclass(frozen=True, slots=True)
class Address:
    """A page's address as it is asked for, and the key that all its spellings share."""

    url: str
    key: str


def address_of(site: Site, url: str) -> Address | None:
    """The address of a page of this site; None for anything else."""
    try:
        shown = read_url(canonical.address_for_people(url)).url
        if not site.has(shown) or len(shown) > MAX_PAGE_URL:
            return None
        return Address(shown, canonical.key(shown))
    except IngestFailed:
        return None


def may_be_page(url: str) -> bool:
    """Whether an address does not already say that it is a picture, a program or an archive."""
    return not _NO_PAGES.search(unquote(urlsplit(url).path))


def fits(source: Source, url: str) -> bool:
    """Whether the source's own patterns want the page."""
    return is_wanted(url, source.include, source.exclude)


def add_links(
    site: Site, source: Source, urls: Iterable[str], *, depth: int, is_told: bool = False
) -> None:
    """Remember the pages behind these links, as far as the source wants them."""
    if depth > source.depth:
        return
    found = {
        address.key: address
        for url in urls
        if (address := address_of(site, url))
        and may_be_page(address.url)
        and fits(source, address.url)
    }
    known = dict(source.pages.values_list("key", "url"))
    _lower_depth(source, found.keys() & known.keys(), depth=depth)
    alike = _Alike(source)
    new = []
    for address in (found[key] for key in found if key not in known):
        rank = _rank(source, address.url, is_told=is_told)
        if not is_told and alike.are_many(address.url):
            rank = Rank.ALIKE
        new.append(_page(source, address, depth=depth, rank=rank))
    new.sort(key=lambda page: (page.rank, "?" in page.url, len(page.url), page.url))
    most = KNOWN_A_PAGE * source.max_pages
    SourcePage.objects.bulk_create(new[:most], ignore_conflicts=True)
    _delete_excess(source, most)


def add_one(source: Source, address: Address, *, depth: int, rank: int) -> None:
    """Remember one page, at the place of the one that led to it."""
    if not source.pages.filter(key=address.key).exists():
        _page(source, address, depth=depth, rank=rank).save(force_insert=True)
    _lower_depth(source, {address.key}, depth=depth)
    source.pages.filter(key=address.key, rank__gt=rank).update(rank=rank)


def forget_unwanted(source: Source) -> None:
    """Let go of what the patterns or the depth leave out by now, and that has no item."""
    itemless = source.pages.filter(item=None).exclude(rank=Rank.START)
    unwanted = [
        pk
        for pk, url, depth in itemless.values_list("pk", "url", "depth")
        if depth > source.depth or not fits(source, url)
    ]
    source.pages.filter(pk__in=unwanted).delete()


def next_page(source: Source) -> SourcePage | None:
    """The page to ask for next; None when all that may be asked for has been."""
    pages = source.pages.filter(seen_in__lt=source.crawl)
    if not _has_room(source):
        pages = pages.filter(state=PageState.KEPT)
    return _in_order(pages).first()


def seconds_until_due(page: SourcePage) -> float:
    """How long to leave a page alone that failed; none for one that did not."""
    if not page.tries or page.fetched_at is None:
        return 0.0
    due = page.fetched_at + timedelta(seconds=RETRY_SEC * 2 ** (page.tries - 1))
    return max(0.0, (due - timezone.now()).total_seconds())


def _page(source: Source, address: Address, *, depth: int, rank: int) -> SourcePage:
    return SourcePage(source=source, key=address.key, url=address.url, depth=depth, rank=rank)


def _lower_depth(source: Source, keys: Collection[str], *, depth: int) -> None:
    """Pages that a shorter way leads to than was known."""
    source.pages.filter(key__in=keys, depth__gt=depth).update(depth=depth)


def _rank(source: Source, url: str, *, is_told: bool) -> Rank:
    if urlsplit(url).path.startswith(_folder(source.start_url)):
        return Rank.TOLD if is_told else Rank.LINKED
    return Rank.TOLD_ELSEWHERE if is_told else Rank.LINKED_ELSEWHERE


def _folder(url: str) -> str:
    """What the addresses beneath a start begin with: `/docs` for `/docs` and `/docs/a.html`."""
    folder, _, last = urlsplit(url).path.rpartition("/")
    return f"{folder}/{last}" if "." not in last else folder


class _Alike:
    """How many addresses of a source differ in numbers alone."""

    def __init__(self, source: Source) -> None:
        pages = source.pages.values_list("rank", "url")
        told = (Rank.START, Rank.TOLD, Rank.TOLD_ELSEWHERE)
        self.vouched_for = {self._shape(url) for rank, url in pages if rank in told}
        self.counts = Counter(self._shape(url) for _, url in pages)

    def are_many(self, url: str) -> bool:
        """Count one more; whether there are too many that the site's own lists know nothing of."""
        shape = self._shape(url)
        self.counts[shape] += 1
        return self.counts[shape] > MANY_ALIKE and shape not in self.vouched_for

    @staticmethod
    def _shape(url: str) -> str:
        return _NUMBER.sub("0", url)


def _has_room(source: Source) -> bool:
    kept = source.pages.filter(state=PageState.KEPT).count()
    looked = source.pages.filter(seen_in=source.crawl).count()
    return kept < source.max_pages and looked < LOOKS_A_PAGE * source.max_pages


def _in_order(pages: QuerySet[SourcePage]) -> QuerySet[SourcePage]:
    """Pages that have an item come first, because others may turn out to be their duplicates.

    What failed comes last. What a worker died over did not, and is where it would have been.
    """
    return pages.alias(
        failures=Case(
            When(error="", then=Value(0)), default=F("tries"), output_field=IntegerField()
        ),
        is_new=Case(When(state=PageState.KEPT, then=Value(0)), default=Value(1)),
        asks=Case(When(url__contains="?", then=Value(1)), default=Value(0)),
    ).order_by("failures", "is_new", "rank", "depth", "asks", Length("url"), "url")


def _delete_excess(source: Source, most: int) -> None:
    """Keep no more addresses than so many, beside those that this crawl has seen."""
    excess = source.pages.count() - most
    if excess > 0:
        unseen = source.pages.filter(item=None, seen_in__lt=source.crawl)
        others = _in_order(unseen.exclude(rank=Rank.START))
        worst = others.reverse().values_list("pk", flat=True)[:excess]
        source.pages.filter(pk__in=list(worst)).delete()
