"""A crawl, in turns: what it knows is in its rows, so that any worker can go on with it."""

import hashlib
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from knowledge.crawling import frontier, page_visit, sitemaps
from knowledge.crawling.frontier import Rank
from knowledge.crawling.page_outcomes import CrawlAbandoned, Visit
from knowledge.crawling.robots import LONGEST, Robots, read_robots
from knowledge.crawling.site import Clock, Site
from knowledge.errors import IngestFailed, QuarryError
from knowledge.ingest.extraction import try_advisory_lock
from knowledge.jobs.notices import Topic, tell_owner
from knowledge.models import CrawlState, PageState, Source
from knowledge.sources import http
from knowledge.sources.addresses import read_url
from knowledge.validation import make_storable

TURN_SEC = 30.0
"""How long a crawl works before others have their turn."""
ANOTHER_AT_IT_SEC = 10.0
LONGEST_DELAY_SEC = 10.0
FAILURES_IN_A_ROW = 3
"""After so many, it is the site that does not answer, and not the page."""
MOST_OUTAGES = 4
OUTAGE_SEC = 30.0
"""Doubled each time."""
TOO_MANY_REQUESTS = 429
NO_PAGE = "No page of it could be kept; look at its pages for the reasons."


def lock_source(source_id: UUID) -> Source | None:
    """Lock the source's row until this transaction ends; lock contents and items before it."""
    return Source.objects.select_for_update(no_key=True).filter(pk=source_id).first()


def queue(source: Source) -> None:
    """Begin another crawl of a source that the caller holds; its job finds it queued."""
    source.crawl += 1
    source.state, source.error, source.outages = CrawlState.QUEUED, "", 0
    source.begun_at, source.finished_at = timezone.now(), None
    source.save()
    source.pages.exclude(tries=0).update(tries=0)


def take_turn(source_id: UUID, *, clock: Clock | None = None) -> float | None:
    """Work on a crawl for a while; the seconds until its next turn, None if it has none.

    One worker at a time asks one host, whichever sources it is the host of.
    """
    source = _at_work(source_id)
    if source is None:
        return None
    with try_advisory_lock(_number_of(read_url(source.start_url).host)) as is_alone:
        if not is_alone:
            return ANOTHER_AT_IT_SEC
        try:
            return _Turn(source, clock or Clock()).run()
        except IngestFailed as error:
            fail(source_id, error)
            return None


def stale(now: datetime) -> list[UUID]:
    """Sources whose last crawl is so long ago that they are crawled again by themselves."""
    days = settings.QUARRY_SOURCE_REFRESH_DAYS
    if days <= 0:
        return []
    finished = Source.objects.filter(
        Q(state=CrawlState.DONE, finished_at__lt=now - timedelta(days=days))
        | Q(state=CrawlState.FAILED, finished_at__lt=now - timedelta(days=min(days, 1)))
    )
    return list(finished.order_by("finished_at").values_list("pk", flat=True))


def fail(source_id: UUID, error: QuarryError) -> None:
    """Say why a crawl ended; what it has kept stays."""
    Source.objects.at_work().filter(pk=source_id).update(
        state=CrawlState.FAILED,
        error=error.message,
        finished_at=timezone.now(),
        changed_at=timezone.now(),
    )
    for owner_id in Source.objects.filter(pk=source_id).values_list("owner_id", flat=True):
        tell_owner(owner_id, Topic.SOURCES)


class _Turn:
    """One worker's time with one source."""

    def __init__(self, source: Source, clock: Clock) -> None:
        self.source = source
        self.ends = clock.now() + TURN_SEC
        self.site = Site(source.start_url, settings.QUARRY_CRAWL_DELAY_SEC, clock)
        self.robots = Robots()
        self.failures = 0

    def run(self) -> float | None:
        if self.source.state == CrawlState.QUEUED:
            self._begin()
        self._follow_robots(read_robots(self.source.robots))
        while self.site.clock.now() < self.ends:
            source = _at_work(self.source.pk)
            if source is None or source.crawl != self.source.crawl:
                return None
            self.source = source
            page = frontier.next_page(source)
            if page is None:
                _finish(source)
                return None
            wait = frontier.seconds_until_due(page) or self._take(Visit(self.site, source, page))
            if wait:
                return wait
        return 0.0

    def _begin(self) -> None:
        """Learn what the site allows and what it says its pages are: all of it, or nothing."""
        source = self.source
        source.robots = _robots_of(self.site)
        robots = read_robots(source.robots)
        self._follow_robots(robots)
        told = list(islice(sitemaps.pages_told(self.site, robots), sitemaps.MOST_TOLD))
        start = frontier.address_of(self.site, source.start_url)
        if start is None:
            raise IngestFailed("Its start address cannot be opened.", reason="bad_url")
        with transaction.atomic():
            source.state = CrawlState.CRAWLING
            queued = Source.objects.filter(
                pk=source.pk, crawl=source.crawl, state=CrawlState.QUEUED
            )
            if queued.update(state=source.state, robots=source.robots, changed_at=timezone.now()):
                frontier.forget_unwanted(source)
                frontier.add_one(source, start, depth=0, rank=Rank.START)
                frontier.add_links(self.site, source, told, depth=1, is_told=True)

    def _follow_robots(self, robots: Robots) -> None:
        self.robots = robots
        asked = min(robots.delay_sec or 0.0, LONGEST_DELAY_SEC)
        self.site.delay_sec = max(settings.QUARRY_CRAWL_DELAY_SEC, asked)

    def _take(self, visit: Visit) -> float:
        """See to one page; the seconds to stay away when it is the site that does not answer."""
        try:
            error = page_visit.visit_page(visit, self.robots)
        except CrawlAbandoned:
            return 0.0
        if error is None:
            self.failures = 0
            return 0.0
        self.failures += 1
        is_told_to_wait = error.details.get("status") == TOO_MANY_REQUESTS
        is_outage = is_told_to_wait or self.failures >= FAILURES_IN_A_ROW
        return self._pause_for_outage(error) if is_outage else 0.0

    def _pause_for_outage(self, error: IngestFailed) -> float:
        source = self.source
        if source.outages >= MOST_OUTAGES:
            raise IngestFailed(
                f"The site stopped answering, and the crawl with it: {error.message}",
                reason="unreachable",
            )
        Source.objects.filter(pk=source.pk).update(
            outages=source.outages + 1, changed_at=timezone.now()
        )
        return float(OUTAGE_SEC * 2**source.outages)


def _at_work(source_id: UUID) -> Source | None:
    return Source.objects.at_work().filter(pk=source_id).first()


def _number_of(host: str) -> int:
    return int.from_bytes(hashlib.sha256(host.encode()).digest()[:8])


def _robots_of(site: Site) -> str:
    """robots.txt; none is as good as one that allows all, but an outage allows nothing."""
    try:
        answer = http.fetch(site.address("/robots.txt"), max_bytes=LONGEST * 4, any_status=True)
    except IngestFailed as error:
        if error.details.get("reason") == "too_many_redirects":
            return ""
        raise
    if answer.status >= 500 or answer.status == TOO_MANY_REQUESTS:
        raise IngestFailed(
            f"Its robots.txt cannot be had (HTTP {answer.status}), and without it nothing may be "
            "asked for; crawl it again later.",
            reason="server_error",
        )
    text = answer.body.decode(errors="replace") if answer.status < 300 else ""
    return make_storable(text[:LONGEST])


def _finish(source: Source) -> None:
    has_pages = source.pages.filter(state=PageState.KEPT).exists()
    start = source.pages.filter(rank=Rank.START).exclude(error="").first()
    Source.objects.filter(pk=source.pk, crawl=source.crawl, state=CrawlState.CRAWLING).update(
        state=CrawlState.DONE if has_pages else CrawlState.FAILED,
        error="" if has_pages else (start.error if start else NO_PAGE),
        finished_at=timezone.now(),
        changed_at=timezone.now(),
    )
    tell_owner(source.owner_id, Topic.SOURCES)
