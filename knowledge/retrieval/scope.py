"""The scope of a search: the items visible to the caller, narrowed by its filters."""

import logging
from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, Q, QuerySet
from psycopg.rows import DictRow

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable, not_found
from knowledge.indexing.generations import live_generation
from knowledge.models import Folder, Generation, Item, ItemType, Source, SourcePage
from knowledge.models.item import ItemQuerySet
from knowledge.models.prepared import Binary
from knowledge.retrieval import visibility_sql
from knowledge.retrieval.binary_cursor import fetch
from knowledge.text.languages import DEFAULT
from knowledge.validation import MAX_TAG, as_moment, clean_line, clean_tags, one_of

logger = logging.getLogger(__name__)


class Reach(Enum):
    """Whose items a search is about: the caller's library, or what is published to it."""

    LIBRARY = "library"
    REGISTRY = "registry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """A caller's own limits on a search; they can only take away."""

    folder_id: UUID | None = None
    types: Collection[str] = ()
    tags: Collection[str] = ()
    since: str | datetime | None = None
    before: datetime | None = None
    """Only what had come to this server by then, whatever it says of its own age."""
    language: str | None = None
    category: str | None = None
    labels: Collection[str] = ()
    """Any of these as its category or among its tags."""
    statuses: Collection[str] = ()
    project: UUID | None = None
    assignee: str | None = None
    source_id: UUID | None = None
    source_name: str | None = None
    domain: str | None = None
    schema_version: str | None = None
    min_quality: float | None = None
    least_of_others: float | None = None
    """The same for what others share: one's own is found whatever its quality."""

    @property
    def named(self) -> list[str]:
        """What takes anything away; each edge has its own way to say that nothing is named."""
        given = zip(_LIMITS, _limits_of(self), strict=True)
        return [name for name, value in given if value not in (None, (), [])]

    @property
    def finds_archived(self) -> bool:
        """Whether archived tasks are asked for: by default no search finds them."""
        return "archived" in self.statuses


_LIMITS = [field.name for field in fields(Narrowing)]
_limits_of = attrgetter(*_LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The searchable items, whose they are, and how many chunks they have."""

    access: Access
    reach: Reach
    is_whole: bool
    items: Binary
    """The ids of the items; of a whole library, of those that no search finds."""
    owner_ids: list[int] | None
    """Whose items are in scope, when they are not all the caller's own."""
    chunks: int
    words: int
    library_chunks: int
    languages: frozenset[str]
    """Of what the caller may reach, or of the items in scope."""
    leaves_out: bool
    """Whether a whole library has items that no search finds."""
    gone: int
    """So many chunks at most that postings name are deleted since."""
    finds_archived: bool

    def allowed_items(self) -> visibility_sql.Sql:
        """The items that may be shown, asked of the door once more, under the name `seen`."""
        items, params = _allowed_items_sql(
            self.access, self.reach, finds_archived=self.finds_archived
        )
        return f"({items}) AS seen ({visibility_sql.COLUMNS})", params

    @property
    def owner_id(self) -> int:
        return self.access.owner_id

    @property
    def owners(self) -> str:
        """SQL condition: the row's owner has items in scope."""
        if self.owner_ids is None:
            return "owner_id = (SELECT owner FROM scope)"
        return "owner_id = ANY((SELECT owners FROM scope)::int[])"

    @property
    def condition(self) -> str:
        """Holds for the rows of a search table that are in scope, once their owner is right.

        By it an index goes from item to item.
        """
        return self.filter if self.is_whole else "item_id = ANY((SELECT items FROM scope)::uuid[])"

    @property
    def filter(self) -> str:
        """The same for rows that were found in another way: each is looked up in a hash."""
        if not self.is_whole:
            # Out of the planner's sight, who would else begin with the items.
            return f"coalesce(item_id IN ({_LISTED}), false)"
        # Asked of every row of a whole library, even an empty list takes its time.
        return f"item_id NOT IN ({_LISTED})" if self.leaves_out else "true"


# A CTE, so that the planner estimates neither owner nor ids: then one plan is as good as the next
# to it, and it keeps a prepared one.
SCOPE_SQL = """scope AS MATERIALIZED (
        SELECT %(items)s::uuid[] AS items, %(owner)s::int AS owner, %(owners)s::int[] AS owners
    )"""
_LISTED = "SELECT unnest(items) FROM scope"


def scope_of(
    access: Access, narrowing: Narrowing, reach: Reach = Reach.LIBRARY
) -> tuple[Scope, Generation]:
    """The scope of a search in the form that its SQL takes, with the live generation."""
    named = narrowing.named
    is_whole = reach is Reach.LIBRARY and access.folder_ids is None and not named
    if is_whole:
        # Of a whole library, naming the few that are left out is far shorter than all the rest.
        sql, params = visibility_sql.hidden_items_sql(access)
    elif not named:
        sql, params = _allowed_items_sql(access, reach, finds_archived=False)
    elif reach is Reach.LIBRARY and named == ["types"]:
        sql, params = visibility_sql.searchable_of_types(access, known_types(narrowing))
    else:
        items = visibility_sql.in_columns(items_within(access, narrowing, reach))
        sql, params = visibility_sql.sql_of(items, "item")
    ground = fetch(
        _ground_sql(sql, reach, is_all_ours=access.folder_ids is None),
        {"owner": access.owner_id, **params},
    )[0]
    scope = Scope(
        access=access,
        reach=reach,
        is_whole=is_whole,
        items=Binary(ground["items"]),
        owner_ids=ground["owners"],
        chunks=_within(ground, "chunks", is_whole=is_whole),
        words=_within(ground, "words", is_whole=is_whole),
        library_chunks=ground["library_chunks"],
        languages=frozenset((each or DEFAULT).lower()[:2] for each in ground["languages"] or ()),
        leaves_out=is_whole and ground["count"] > 0,
        gone=_gone_chunks(ground) if is_whole else 0,
        finds_archived=narrowing.finds_archived,
    )
    return scope, _generation(ground)


def _gone_chunks(ground: DictRow) -> int:
    return max(0, int(ground["packed"] - (ground["library_chunks"] - ground["fresh"])))


def _within(ground: DictRow, what: str, *, is_whole: bool) -> int:
    """How many are in scope; of a whole library all but those that are left out."""
    named = int(ground[what])
    return int(ground[f"library_{what}"]) - named if is_whole else named


def _ground_sql(items: str, reach: Reach, *, is_all_ours: bool) -> str:
    """What a search stands on, in one round trip."""
    is_library = reach is Reach.LIBRARY
    return _GROUND.format(
        items=items,
        columns=visibility_sql.COLUMNS,
        owners="NULL::int[]" if is_library else "coalesce(array_agg(DISTINCT owner_id), '{}')",
        languages="languages" if is_library and is_all_ours else _LANGUAGES_IN_SCOPE,
    )


# The list of items comes as Postgres writes it, and is handed back so: thousands of ids are no
# business of Python's.
_GROUND = """
    SELECT live.*, count, chunks, words, array_send(items) AS items, owners,
        library_chunks, library_words, fresh, {languages} AS languages, coalesce((
            SELECT sum(chunks) FROM knowledge_wordsegment
            WHERE owner_id = ANY(coalesce(owners, ARRAY[%(owner)s::int]))
        ), 0)::bigint AS packed
    FROM (
        SELECT count(*) AS count, coalesce(sum(chunk_count), 0) AS chunks,
            coalesce(sum(word_count), 0) AS words,
            coalesce(array_agg(id), '{{}}') AS items, {owners} AS owners
        FROM ({items}) AS reached ({columns})
    ) AS reached CROSS JOIN LATERAL (
        SELECT coalesce(sum(chunks), 0)::bigint AS library_chunks,
            coalesce(sum(words), 0)::bigint AS library_words,
            coalesce(sum(fresh), 0)::bigint AS fresh,
            string_to_array(
                string_agg(DISTINCT array_to_string(languages, ' '), ' '), ' '
            ) AS languages
        FROM knowledge_librarysize
        WHERE owner_id = ANY(coalesce(owners, ARRAY[%(owner)s::int]))
    ) AS library LEFT JOIN (
        SELECT id, embedder, model, dimensions, background
        FROM knowledge_generation WHERE is_live
    ) AS live ON true"""

# Where not all of a library is in reach, its other languages must not change how a question is
# read. Of one language nobody need ask.
_LANGUAGES_IN_SCOPE = """CASE WHEN cardinality(languages) < 2 THEN languages ELSE ARRAY(
            SELECT DISTINCT language FROM knowledge_content WHERE id IN (
                SELECT content_id FROM knowledge_item WHERE knowledge_item.id = ANY(items)
            )
        )::text[] END"""


def _allowed_items_sql(access: Access, reach: Reach, *, finds_archived: bool) -> visibility_sql.Sql:
    """All that a search of this reach may answer the caller with."""
    if reach is Reach.REGISTRY:
        return visibility_sql.published_items_sql(access)
    if finds_archived:
        return visibility_sql.searchable_with_archived(access)
    return visibility_sql.searchable(access)


def _generation(ground: DictRow) -> Generation:
    if ground["id"] is None:
        try:
            return live_generation()
        except ProviderUnavailable:  # words are found without it
            logger.warning("The first embeddings cannot begin", exc_info=True)
            return Generation(embedder=settings.QUARRY_EMBEDDER, dimensions=1, background=0)
    fields = ("id", "embedder", "model", "dimensions", "background")
    return Generation(is_live=True, **{name: ground[name] for name in fields})


def items_within(
    access: Access, narrowing: Narrowing, reach: Reach = Reach.LIBRARY
) -> ItemQuerySet:
    """The items that a search of this reach, narrowed so, may answer with."""
    reached = Item.objects.visible_to(access)
    if reach is Reach.REGISTRY:
        reached = Item.objects.published_to(access)
    found = reached.searchable(access, finds_archived=narrowing.finds_archived)
    return narrow(access, found, narrowing)


def narrow(access: Access, items: ItemQuerySet, narrowing: Narrowing) -> ItemQuerySet:
    """Those of the items that all of the caller's limits leave."""
    items = items.filter(attribute_condition(access, narrowing))
    if narrowing.folder_id is not None:
        folder = Folder.objects.visible_to(access).filter(pk=narrowing.folder_id).first()
        if folder is None:
            raise not_found("folder")
        items = items.filter(folders=folder)
    if narrowing.types:
        items = items.filter(type__in=known_types(narrowing))
    if narrowing.tags:
        items = items.filter(tags__contains=clean_tags(narrowing.tags))
    if narrowing.since is not None:
        items = items.filter(created_at__gte=as_moment(narrowing.since, field="since"))
    if narrowing.before is not None:
        items = items.filter(arrived_at__lt=narrowing.before)
    return items


def known_types(narrowing: Narrowing) -> list[str]:
    """The types that are named, all of which there are."""
    return [one_of(name, _TYPES, field="types") for name in narrowing.types]


_TYPES = tuple(ItemType.values)


def attribute_condition(access: Access, narrowing: Narrowing) -> Q:
    """The condition on items' attributes; a document matches by its tags."""
    found = Q()
    if narrowing.language is not None:
        language = clean_line(narrowing.language, field="language", longest=MAX_TAG)
        found &= Q(attributes__contains={"languages": [language.lower()]}) | _tag_condition(
            language
        )
    if narrowing.category is not None:
        category = clean_line(narrowing.category, field="category", longest=MAX_TAG)
        found &= Q(attributes__contains={"category": category.lower()}) | _tag_condition(category)
    if narrowing.labels:
        found &= _any_of("category", narrowing.labels) | Q(tags__overlap=list(narrowing.labels))
    if narrowing.statuses:
        found &= _any_of("status", narrowing.statuses)
    if narrowing.project is not None:
        project = Item.objects.visible_to(access).filter(pk=narrowing.project)
        found &= Q(Exists(project), attributes__contains={"project": str(narrowing.project)})
    if narrowing.assignee is not None:
        assignee = clean_line(narrowing.assignee, field="assignee", longest=MAX_TAG)
        found &= Q(attributes__contains={"assignees": [assignee]})
    if narrowing.source_id is not None or narrowing.source_name is not None:
        found &= Q(pk__in=_crawled_items(access, narrowing))
    if narrowing.domain is not None:
        domain = clean_line(narrowing.domain, field="domain", longest=MAX_TAG).lower()
        found &= Q(attributes__contains={"domain": domain})
    if narrowing.schema_version is not None:
        version = clean_line(narrowing.schema_version, field="schema_version", longest=MAX_TAG)
        found &= Q(attributes__contains={"schema_version": version})
    if narrowing.min_quality is not None:
        found &= Q(quality__gte=narrowing.min_quality)
    if narrowing.least_of_others is not None:
        found &= Q(quality__gte=narrowing.least_of_others) | Q(owner_id=access.owner_id)
    return found


def _tag_condition(word: str) -> Q:
    """Has the word as a tag, in its common spellings; the index cannot ignore case."""
    return Q(tags__overlap=list({word, word.lower(), word.capitalize(), word.upper()}))


def _any_of(name: str, values: Collection[str]) -> Q:
    found = Q()
    for value in values:
        found |= Q(attributes__contains={name: value})
    return found


def _crawled_items(access: Access, narrowing: Narrowing) -> QuerySet[SourcePage, Any]:
    sources = Source.objects.visible_to(access)
    if narrowing.source_id is not None:
        sources = sources.filter(pk=narrowing.source_id)
    if narrowing.source_name is not None:
        name = clean_line(narrowing.source_name, field="source_name", longest=200)
        sources = sources.filter(name__icontains=name)
    return SourcePage.objects.filter(source__in=sources, item__isnull=False).values("item")
