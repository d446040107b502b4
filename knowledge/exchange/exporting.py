"""A library as one archive: for people to read, and to be imported again without a loss."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

from django.db import connection, transaction
from django.db.models import Count, Model, QuerySet

from knowledge.access import Access, Capability
from knowledge.exchange import markdown_export
from knowledge.exchange.feed_records import SETTLED, FeedRecord
from knowledge.exchange.item_records import ItemRecord
from knowledge.exchange.link_records import PageRecord, RelationRecord, SourceRecord, VersionRecord
from knowledge.exchange.reading_records import (
    HighlightRecord,
    ProgressRecord,
    SavedSearchRecord,
)
from knowledge.exchange.records import ContentRecord, Counts, FolderRecord, Manifest
from knowledge.models import (
    REGISTRY_TYPES,
    Feed,
    Folder,
    Highlight,
    Item,
    ReadingProgress,
    Relation,
    SavedSearch,
    Source,
    Version,
)
from knowledge.models.item import ItemQuerySet
from knowledge.storage.zips import Member, zip_members

MANIFEST = "manifest.json"
FOLDERS = "folders.jsonl"
CONTENTS = "contents.jsonl"
ITEMS = "items.jsonl"
RELATIONS = "relations.jsonl"
VERSIONS = "versions.jsonl"
SOURCES = "sources.jsonl"
FEEDS = "feeds.jsonl"
HIGHLIGHTS = "highlights.jsonl"
PROGRESS = "progress.jsonl"
SAVED_SEARCHES = "saved_searches.jsonl"
TABLE = "items.csv"

R = TypeVar("R", bound=Model)
OnProgress: TypeAlias = Callable[[int, int], None]

_ROWS, _ROWS_WITH_TEXT = 500, 10
"""Rows in memory at a time; a text may have two million characters."""
_SENT_AT_ONCE = 256 * 1024
_TEXTS = ("content__text", "content__locators")
_PATIENCE = "60s"
"""How long a reader may take for one piece: it holds a connection, and old rows from clean-up."""


def export_library(
    access: Access, *, on_progress: OnProgress = lambda done, total: None
) -> Iterator[bytes]:
    """All that the caller may see, as it is at one moment; an unchanged library, the same bytes."""
    access.require(Capability.READ)
    return _archive(access, on_progress)


def _archive(access: Access, on_progress: OnProgress) -> Iterator[bytes]:
    with _one_moment():
        yield from _join_pieces(zip_members(_Export(access, on_progress).members()))


@contextmanager
def _one_moment() -> Iterator[None]:
    is_ours = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if is_ours:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{_PATIENCE}'")
        yield


class _Export:
    """What the members of one caller's archive say, in the order they stand there."""

    def __init__(self, access: Access, on_progress: OnProgress) -> None:
        self._items: ItemQuerySet = Item.objects.visible_to(access)
        described = self._items.select_related("content", "transform")
        self._described = described.with_folders_for(access).with_attributes_for(access)
        self._relations = Relation.objects.visible_to(access)
        self._sources = Source.objects.visible_to(access)
        self._feeds = Feed.objects.visible_to(access)
        folders = Folder.objects.visible_to(access).order_by("created_at", "pk")
        self._folders = [FolderRecord.of(folder) for folder in folders]
        self._names = {folder.id: folder.name for folder in self._folders}
        self._highlights = Highlight.objects.visible_to(access).order_by("created_at", "pk")
        self._progress = ReadingProgress.objects.visible_to(access).order_by("pk")
        self._searches = SavedSearch.objects.visible_to(access).order_by("created_at", "pk")
        self._on_progress = on_progress

    def members(self) -> Iterator[Member]:
        counts = self._counts()
        yield MANIFEST, Manifest.model_construct(counts=counts).line()
        yield FOLDERS, (folder.line() for folder in self._folders)
        yield CONTENTS, self._content_lines()
        yield ITEMS, self._item_lines()
        yield RELATIONS, self._relation_lines()
        yield VERSIONS, self._version_lines()
        yield SOURCES, self._source_lines()
        yield FEEDS, self._feed_lines()
        yield HIGHLIGHTS, self._highlight_lines()
        yield PROGRESS, (ProgressRecord.of(each).line() for each in self._progress)
        yield SAVED_SEARCHES, (SavedSearchRecord.of(each).line() for each in self._searches)
        yield TABLE, self._table()
        yield from self._files(counts.items)

    def _counts(self) -> Counts:
        return Counts.model_construct(
            folders=len(self._folders),
            contents=self._items.aggregate(n=Count("content", distinct=True))["n"],
            items=self._items.count(),
        )

    def _content_lines(self) -> Iterator[bytes]:
        """Each content once, in the order of their ids."""
        items = self._items.select_related("content").order_by("content_id", "created_at", "pk")
        for _, same in groupby(
            _stream_rows(items, _ROWS_WITH_TEXT), key=lambda item: item.content_id
        ):
            yield ContentRecord.of(next(same).content).line()

    def _item_lines(self) -> Iterator[bytes]:
        """In the order of the contents, so that whoever imports can read both side by side."""
        items = self._described.defer(*_TEXTS).order_by("content_id", "created_at", "pk")
        return (ItemRecord.of(item).line() for item in _stream_rows(items, _ROWS))

    def _relation_lines(self) -> Iterator[bytes]:
        relations = self._relations.order_by("created_at", "pk")
        return (RelationRecord.of(each).line() for each in _stream_rows(relations, _ROWS))

    def _version_lines(self) -> Iterator[bytes]:
        """Those of one item together and in their order, so that they are imported together."""
        items = self._items.filter(type__in=REGISTRY_TYPES).values("pk")
        versions = Version.objects.filter(item__in=items).order_by("item_id", "number")
        return (VersionRecord.of(each).line() for each in _stream_rows(versions, _ROWS_WITH_TEXT))

    def _source_lines(self) -> Iterator[bytes]:
        for source in self._sources.order_by("created_at", "pk"):
            pages = list(source.pages.order_by("key"))
            of_pages = self._items.filter(source_page__source=source)
            seen = set(of_pages.values_list("pk", flat=True))
            yield SourceRecord.of(source, [PageRecord.of(page, seen) for page in pages]).line()

    def _feed_lines(self) -> Iterator[bytes]:
        for feed in self._feeds.order_by("created_at", "pk"):
            entries = list(feed.entries.filter(state__in=SETTLED).order_by("guid_hash"))
            named = self._items.filter(pk__in={entry.item_id for entry in entries})
            seen = set(named.values_list("pk", flat=True))
            yield FeedRecord.of(feed, entries, seen).line()

    def _highlight_lines(self) -> Iterator[bytes]:
        noted = self._items.filter(noted_passages__isnull=False)
        seen = set(noted.values_list("pk", flat=True))
        for highlight in _stream_rows(self._highlights, _ROWS):
            yield HighlightRecord.of(highlight, seen).line()

    def _table(self) -> Iterator[bytes]:
        yield markdown_export.header_row()
        for item in _stream_rows(
            self._described.defer(*_TEXTS).order_by("created_at", "pk"), _ROWS
        ):
            yield markdown_export.row_of(item, self._folders_of(item))

    def _files(self, total: int) -> Iterator[Member]:
        items = self._described.order_by("created_at", "pk")
        for done, item in enumerate(_stream_rows(items, _ROWS_WITH_TEXT), start=1):
            folders = self._folders_of(item)
            yield (
                markdown_export.path_of(item, folders),
                markdown_export.markdown_of(item, folders).encode(),
            )
            self._on_progress(done, total)

    def _folders_of(self, item: Item) -> list[str]:
        return sorted(self._names[filing.folder_id] for filing in item.seen_filings)


def _join_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Fewer and larger pieces, for each is a trip between threads."""
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) >= _SENT_AT_ONCE:
            yield bytes(held)
            held.clear()
    yield bytes(held)


def _stream_rows(found: QuerySet[R, Any], rows: int) -> Iterator[R]:
    return found.iterator(chunk_size=rows)
