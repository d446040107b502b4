"""The order of memory's hits: one for each item, by the one engine, then weighed anew."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import log
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Left

from knowledge.access import Access
from knowledge.memory.dates import NamedDate, is_dated_in
from knowledge.memory.relations import relations_of_any
from knowledge.memory.requests import HALF_LIFE_DAYS
from knowledge.memory.score_boosts import (
    RELATION_SHARES,
    UNDATED,
    coverage,
    near_equal_boost,
    raise_score,
    recency_boost,
    reread_boost,
    support,
)
from knowledge.models import MEMORY_TYPES
from knowledge.retrieval import visibility_sql
from knowledge.retrieval.binary_cursor import fetch
from knowledge.retrieval.conditions import matched_words
from knowledge.retrieval.duplicates import BEGINNING, Copy, repeated_texts
from knowledge.retrieval.scope import Narrowing, items_within
from knowledge.retrieval.search import Ranking, rank
from knowledge.retrieval.similarity import likeness_to_best
from knowledge.retrieval.statement import Shown

POOL = 300
"""The best chunks that are ranked for the first results: hardly any behind them comes so far up."""
NEAR_THE_TOP = 20
DEEP_POOL = 1_000
"""The same where there are pages or more results, or where a date or an age may raise anything."""
WIDE_POOL = 5_000
FEWEST_ITEMS = 100
"""A pool that a few long items have to themselves is made wider."""

REREAD = 50
"""Hits that get a second look."""
BEST = 3
STRONGEST = 10
"""Hits that speak for what they are related to."""
MOST_RELATIONS = 1_000
MOST_BROUGHT_IN = 20
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Tie:
    """Why an item was raised: a strong hit that it is related to."""

    to: UUID
    type: str
    boost: float


@dataclass(slots=True, kw_only=True)
class Candidate:
    """An item by its best chunk, and what its score is made of."""

    item_id: UUID
    chunk_id: int
    type: str
    created_at: datetime
    updated_at: datetime
    beginning: str
    """Of the text of its chunk."""
    score: float = 0.0
    tie: Tie | None = None
    recency_boost: float = 1.0
    copies: list[Copy] = field(default_factory=list)


@dataclass(slots=True)
class Pool:
    """Every item that a query finds, and how it was searched."""

    ranking: Ranking
    candidates: dict[UUID, Candidate] = field(default_factory=dict)

    def best_first(self) -> list[Candidate]:
        """By score, and where that is the same as the engine has them: by chunk."""
        found = self.candidates.values()
        return sorted(found, key=lambda each: (-each.score, each.chunk_id))


def pool_of(access: Access, *, query: str, mode: str, narrowing: Narrowing, is_deep: bool) -> Pool:
    """The items of the best chunks, by fusion alone."""
    size = DEEP_POOL if is_deep else POOL
    pool = _pool(access, query, mode, narrowing, size)
    if len(pool.ranking.rows) == size and len(pool.candidates) < FEWEST_ITEMS:
        pool = _pool(access, query, mode, narrowing, WIDE_POOL)
    return pool


def _pool(access: Access, query: str, mode: str, narrowing: Narrowing, size: int) -> Pool:
    ranking = rank(
        access, query=query, mode=mode, limit=size, narrowing=narrowing, shown=Shown.IN_BRIEF
    )
    pool = Pool(ranking)
    for row in ranking.rows:
        if row["item_id"] not in pool.candidates:
            pool.candidates[row["item_id"]] = Candidate(**row)
    return pool


def reread(pool: Pool) -> None:
    """Look again at the first hits: which of the words they have, and how like the best they are.

    The two help together; a phrase, a title's words or a second chunk did not (see benchmarks).
    """
    hits = pool.best_first()[:REREAD]
    chunk_ids = [each.chunk_id for each in hits]
    said = matched_words(pool.ranking.words, chunk_ids)
    rarity = _rarity(pool.ranking.words.spoken, said.values(), of=len(hits))
    alike = likeness_to_best(chunk_ids, chunk_ids[:BEST])
    best = sum(each.score for each in hits[:BEST]) / BEST
    for each, chunk_id in zip(hits, chunk_ids, strict=True):
        covered = coverage(said.get(chunk_id, ()), rarity)
        each.score = raise_score(each.score, reread_boost(covered, alike.get(chunk_id, 0.0), best))


def _rarity(words: Sequence[str], said: Iterable[Sequence[str]], *, of: int) -> dict[str, float]:
    """How much each word sets some of the hits apart from the others."""
    having = Counter(word for each in said for word in each)
    return {word: log((of + 1) / (having[word] + 0.5)) for word in words}


def raise_related(access: Access, narrowing: Narrowing, pool: Pool) -> None:
    """Raise what the strongest hits are related to, and bring in what the pool did not reach."""
    strongest = {each.item_id: each.score for each in pool.best_first()[:STRONGEST] if each.score}
    ties = _ties(strongest, _steps(access, strongest))
    for candidate in _related_candidates(access, narrowing, ties, pool):
        pool.candidates[candidate.item_id] = candidate
    for item_id in ties.keys() & pool.candidates.keys():
        candidate = pool.candidates[item_id]
        candidate.tie = ties[item_id]
        candidate.score = raise_score(candidate.score, candidate.tie.boost)


Step = tuple[UUID, UUID, str, float]


def _steps(access: Access, strongest: Iterable[UUID]) -> list[Step]:
    """Each relation of a strong hit, from it to the other end."""
    strong = set(strongest)
    edges = relations_of_any(access, strong, list(RELATION_SHARES), most=MOST_RELATIONS)
    return [
        (one, other, each.type, each.weight)
        for each in edges
        for one, other in ((each.source, each.target), (each.target, each.source))
        if one in strong
    ]


def _ties(strongest: dict[UUID, float], steps: list[Step]) -> dict[UUID, Tie]:
    """For each item the relation that does most for it."""
    fan = Counter(near for near, *_ in steps)
    ties: dict[UUID, Tie] = {}
    for near, other, kind, weight in steps:
        boost = support(strongest[near], kind, weight, among=fan[near])
        if other not in ties or boost > ties[other].boost:
            ties[other] = Tie(near, kind, boost)
    return ties


def _related_candidates(
    access: Access, narrowing: Narrowing, ties: dict[UUID, Tie], pool: Pool
) -> list[Candidate]:
    """Related items that are not among the ranked chunks, as the filters allow: by their first."""
    missing = sorted(ties.keys() - pool.candidates.keys(), key=lambda pk: (-ties[pk].boost, pk))
    if not missing:
        return []
    items = items_within(access, narrowing).filter(
        pk__in=missing[:MOST_BROUGHT_IN], chunks__position=0
    )
    rows = items.values(
        "type",
        "created_at",
        "updated_at",
        item_id=F("pk"),
        chunk_id=F("chunks__pk"),
        beginning=Left("chunks__text", BEGINNING),
    )
    return [Candidate(**row) for row in rows]


def weigh_by_age(pool: Pool, *, half_life: float | None, now: datetime) -> None:
    """Let what was changed lately count for more: in full by a half-life that the caller names."""
    for each in pool.candidates.values():
        age = (now - each.updated_at) / _DAY
        each.recency_boost = recency_boost(age, half_life or HALF_LIFE_DAYS)
        if half_life is None:
            each.recency_boost = near_equal_boost(each.recency_boost)
        each.score *= each.recency_boost


def prefer_dated(pool: Pool, dates: Collection[NamedDate]) -> None:
    """Prefer what is of a day or month that the question names, if anything is."""
    others = [each for each in pool.candidates.values() if not is_dated_in(each.created_at, dates)]
    if len(others) < len(pool.candidates):
        for each in others:
            each.score *= UNDATED


def fold_copies(access: Access, found: Sequence[Candidate]) -> list[Candidate]:
    """Give the same text one place, and name the items that have it too.

    What was remembered under another title is another thing, however short its text.
    """
    texts = repeated_texts({each.chunk_id: each.beginning for each in found})
    titles = _titles(access, [each.item_id for each in found if each.chunk_id in texts])
    kept: list[Candidate] = []
    first_of: dict[tuple[str, str], Candidate] = {}
    for each in found:
        if each.item_id not in titles:
            kept.append(each)
            continue
        title = titles[each.item_id]
        key = texts[each.chunk_id], title if each.type in MEMORY_TYPES else ""
        if first := first_of.get(key):
            first.copies.append(Copy(each.item_id, title))
        else:
            first_of[key] = each
            kept.append(each)
    return kept


def _titles(access: Access, item_ids: Sequence[UUID]) -> dict[UUID, str]:
    if not item_ids:
        return {}
    sql, params = visibility_sql.titled_items_sql(access)
    rows = fetch(_TITLES.format(items=sql), {**params, "items": list(item_ids)})
    return {row["id"]: row["custom_title"] or row["title"] for row in rows}


_TITLES = """
    SELECT id, custom_title, title FROM ({items}) AS seen (id, custom_title, title)
    WHERE id = ANY(%(items)s::uuid[])"""
