"""What a person asks of the library, as the address of the page says it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from console.sentences import for_people
from knowledge.access import Access
from knowledge.errors import InvalidInput, NotFound, QuarryError
from knowledge.library.items import ItemFilter, Page, list_items
from knowledge.models import Item, ItemType
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import (
    MAX_OFFSET,
    MAX_QUERY,
    MODES,
    Answer,
    Hit,
    LibrarySearchRequest,
    search,
)
from knowledge.validation import id_or_none

PER_PAGE = 40
HITS = 20
MOST_BY_TITLE = 5
LONGEST_TITLE_WORDS = 200
AGES = {"": "Any time", "1d": "Past day", "1w": "Past week", "1m": "Past month", "1y": "Past year"}
MODE_NAMES = {"hybrid": "Words and meaning", "keyword": "Words", "semantic": "Meaning"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryQuery:
    """The question and its limits; what the address has wrong is as if it were not there."""

    q: str = ""
    mode: str = "hybrid"
    folder: UUID | None = None
    type: str = ""
    tag: str = ""
    since: str = ""
    archived: bool = False
    page: int = 1

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> "LibraryQuery":
        mode, age, kind = asked.get("mode", ""), asked.get("since", ""), asked.get("type", "")
        page = asked.get("page", "")
        return cls(
            q=asked.get("q", "").replace("\x00", "").strip()[:MAX_QUERY],
            mode=mode if mode in MODES else "hybrid",
            folder=id_or_none(asked.get("folder", "")),
            type=kind if kind in ItemType.values else "",
            tag=" ".join(asked.get("tag", "").replace("\x00", "").split())[:100],
            since=age if age in AGES else "",
            archived=asked.get("archived") == "1",
            page=max(1, int(page)) if page.isdecimal() and len(page) < 6 else 1,
        )

    @property
    def address(self) -> str:
        """The page that shows this, without what is as by default."""
        told = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }
        if "archived" in told:
            told["archived"] = "1"
        return f"/?{urlencode(told)}" if told else "/"

    def turned_to(self, page: int) -> str:
        return replace(self, page=page).address

    @property
    def is_narrowed(self) -> bool:
        return bool(self.folder or self.type or self.tag or self.since or self.archived)

    @property
    def is_plain(self) -> bool:
        """Whether nothing at all is asked: the beginning of the library."""
        return not self.q and not self.is_narrowed


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one item: the best first, then others within the same item."""

    item: Item
    hits: list[Hit]

    @property
    def best(self) -> Hit:
        return self.hits[0]

    @property
    def next(self) -> list[Hit]:
        """The few that are shown beside the best."""
        return self.hits[1:3]

    @property
    def rest(self) -> list[Hit]:
        return self.hits[3:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What the page shows below the question."""

    query: LibraryQuery
    found: list[Found]
    by_title: list[Item]
    page: Page | None
    degraded: str | None = None
    has_more: bool = False
    problem: str = ""

    @property
    def pages(self) -> dict[str, str]:
        """Where the pages before and after this one are, if there are any."""
        at = self.query.page
        links = {"before": self.query.turned_to(at - 1)} if at > 1 else {}
        return links | ({"after": self.query.turned_to(at + 1)} if self.has_more else {})


def results_of(access: Access, query: LibraryQuery) -> Results:
    """Hits of the engine for a question; without one, the items, newest first."""
    if not query.q:
        return _listing(access, query)
    try:
        return _search(access, query)
    except NotFound:
        raise
    except QuarryError as error:
        return Results(query=query, found=[], by_title=[], page=None, problem=for_people(error))


def _listing(access: Access, query: LibraryQuery) -> Results:
    page = list_items(access, _filter(query), page=query.page, per_page=PER_PAGE)
    has_more = page.page * page.per_page < page.total
    return Results(query=query, found=[], by_title=[], page=page, has_more=has_more)


def _search(access: Access, query: LibraryQuery) -> Results:
    offset = (query.page - 1) * HITS
    if offset + HITS > MAX_OFFSET:
        raise InvalidInput("There are no further hits to show; ask for something narrower.")
    narrowing = Narrowing(
        folder_id=query.folder,
        types=[query.type] if query.type else (),
        tags=[query.tag] if query.tag else (),
        since=query.since or None,
    )
    answer = search(
        access,
        LibrarySearchRequest(
            query=query.q, limit=HITS, mode=query.mode, offset=offset, narrowing=narrowing
        ),
    )
    found = _by_item(answer)
    return Results(
        query=query,
        found=found,
        by_title=_by_title(access, query, {each.item.pk for each in found}),
        page=None,
        degraded=answer.degraded,
        has_more=len(answer.hits) == HITS,
    )


def _by_item(answer: Answer) -> list[Found]:
    """One place for each item, in the order of its best hit."""
    order = {hit.item.pk: at for at, hit in reversed(list(enumerate(answer.hits)))}
    together = sorted(answer.hits, key=lambda hit: order[hit.item.pk])  # stable: best hit first
    groups = (list(hits) for _, hits in groupby(together, key=lambda hit: hit.item.pk))
    return [Found(hits[0].item, hits) for hits in groups]


def _by_title(access: Access, query: LibraryQuery, besides: set[UUID]) -> list[Item]:
    """Items whose title has the letters so far: also half a word, and what is not indexed."""
    if query.page > 1 or len(query.q) > LONGEST_TITLE_WORDS:
        return []
    titled = replace(_filter(query), q=query.q)
    items = list_items(access, titled, per_page=MOST_BY_TITLE + len(besides)).items
    return [item for item in items if item.pk not in besides][:MOST_BY_TITLE]


def _filter(query: LibraryQuery) -> ItemFilter:
    asked: dict[str, Any] = {"folder_id": query.folder, "archived": query.archived}
    for name in ("type", "tag", "since"):
        asked[name] = getattr(query, name) or None
    return ItemFilter(**asked)
