from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Count, F, Q

from knowledge.access import Access
from knowledge.models.folder import Folder
from knowledge.models.item import Item

MAX_DEPTH = 5
MAX_PAGES = 500


class CrawlState(models.TextChoices):
    NEW = "new"
    QUEUED = "queued"
    CRAWLING = "crawling"
    DONE = "done"
    FAILED = "failed"


class PageState(models.TextChoices):
    QUEUED = "queued"
    KEPT = "kept"  # it has an item
    SAME = "same"  # another page of the source says the same, or it led there
    SKIPPED = "skipped"  # by robots.txt, or it holds nothing to read
    FAILED = "failed"
    GONE = "gone"  # its item is archived


_AT_WORK = (CrawlState.QUEUED, CrawlState.CRAWLING)


class SourceQuerySet(models.QuerySet["Source"]):
    def visible_to(self, access: Access) -> Self:
        """Only sources whose pages this caller may know exist."""
        sources = self.filter(owner_id=access.owner_id)
        if access.folder_ids is None:
            return sources
        return sources.filter(folder__in=access.folder_ids)

    def at_work(self) -> Self:
        """Those whose crawl has begun and not ended."""
        return self.filter(state__in=_AT_WORK)

    def with_progress(self) -> Self:
        """Count, beside each source, its pages: those that are done, in each state and to come."""
        seen, unseen = Q(pages__seen_in=F("crawl")), Q(pages__seen_in__lt=F("crawl"))
        kept = Q(pages__state=PageState.KEPT)
        return self.annotate(
            pages_known=Count("pages"),
            pages_done=Count("pages", filter=seen & Q(crawl__gt=0)),
            kept_to_come=Count("pages", filter=unseen & kept),
            others_to_come=Count("pages", filter=unseen & ~kept),
            **{
                f"pages_{state}": Count("pages", filter=Q(pages__state=state))
                for state in PageState
            },
        )


class Source(models.Model):
    """A documentation site that is crawled, politely, and refreshed; each page is an item."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sources"
    )
    name = models.CharField(max_length=200)
    start_url = models.TextField()
    include = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="Only pages whose path matches one of these (* stands for anything).",
    )
    exclude = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="No page whose path matches one of these.",
    )
    depth = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(MAX_DEPTH)]
    )
    max_pages = models.PositiveSmallIntegerField(
        default=100, validators=[MinValueValidator(1), MaxValueValidator(MAX_PAGES)]
    )
    folder = models.ForeignKey(
        Folder, on_delete=models.SET_NULL, null=True, blank=True, related_name="sources"
    )
    state = models.CharField(max_length=10, choices=CrawlState, default=CrawlState.NEW)
    crawl = models.PositiveIntegerField(
        default=0, help_text="How many times it was begun; pages tell in which they were seen."
    )
    error = models.TextField(blank=True)
    robots = models.TextField(
        blank=True, editable=False, help_text="The robots.txt that this crawl keeps to."
    )
    outages = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="How often in a row the site did not answer."
    )
    added_by_token = models.UUIDField(null=True, blank=True, editable=False)
    added_by_agent = models.CharField(max_length=200, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    begun_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = SourceQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    pages_known: int
    pages_done: int
    kept_to_come: int
    others_to_come: int

    def __str__(self) -> str:
        return self.name

    @property
    def is_at_work(self) -> bool:
        return self.state in _AT_WORK

    @property
    def percent(self) -> int:
        """How far the crawl is, as far as one knows by now; only by `with_progress`."""
        if self.state == CrawlState.DONE:
            return 100
        total = self.pages_done + self.pages_to_come
        return min(99, 100 * self.pages_done // max(1, total))

    @property
    def pages_to_come(self) -> int:
        """How many of the pages it knows the crawl has yet to see; only by `with_progress`."""
        if not self.is_at_work:
            return 0
        room = max(0, self.max_pages - self.page_counts[PageState.KEPT])
        return self.kept_to_come + min(self.others_to_come, room)

    @property
    def page_counts(self) -> dict[str, int]:
        """How many pages are in each state; only by `with_progress`."""
        return {str(state): getattr(self, f"pages_{state}") for state in PageState}


class SourcePage(models.Model):
    """One address of a source: what came of it, and what it takes to ask for it again."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="pages")
    key = models.TextField(help_text="The canonical key of the address.")
    url = models.TextField()
    depth = models.PositiveSmallIntegerField(default=0)
    rank = models.PositiveSmallIntegerField(
        default=0,
        help_text="Who told of it: of two, the page with the lower one is asked for first.",
    )
    state = models.CharField(max_length=10, choices=PageState, default=PageState.QUEUED)
    seen_in = models.PositiveIntegerField(default=0, help_text="The last crawl that came by.")
    item = models.OneToOneField(
        Item, on_delete=models.SET_NULL, null=True, blank=True, related_name="source_page"
    )
    same_as = models.TextField(blank=True, help_text="The key of the page that it is the same as.")
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of its text.")
    etag = models.CharField(max_length=500, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)
    reason = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    fetched_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["depth", "url"]
        constraints = [models.UniqueConstraint(fields=["source", "key"], name="source_page_once")]
        indexes = [
            models.Index(fields=["source", "state", "depth"], name="source_page_by_state"),
        ]

    def __str__(self) -> str:
        return self.url
