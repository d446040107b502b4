"""Near-duplicates of a new text, among the items that the caller may see."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from knowledge.access import Access
from knowledge.indexing import generations
from knowledge.indexing.generations import INLINE_CHUNKS
from knowledge.indexing.preparing import Prepared
from knowledge.models import MEMORY_TYPES, Generation
from knowledge.providers.protocols import Vectors
from knowledge.retrieval.scope import Narrowing, Scope, scope_of
from knowledge.retrieval.statement import rank_chunks

ALIKE = 0.85
"""The cosine from which two texts are said to be near-duplicates."""
MAX_CONFLICTS = 3

_OPENING = 4
"""Pieces of a long text that are compared; what begins alike and goes on otherwise is not alike."""
_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item that says nearly the same, and how nearly, from 0 to 1."""

    id: UUID
    title: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Near-duplicates, most alike first; or why nobody looked for them."""

    found: list[Conflict]
    degraded: str | None = None


def near_duplicates(
    access: Access, title: str, ready: Prepared, *, except_for: Collection[UUID] = ()
) -> Conflicts:
    """Memory that a text about to be written comes close to."""
    scope, generation = scope_of(access, Narrowing(types=MEMORY_TYPES))
    vectors = _opening(title, ready, generation)
    if vectors is None:
        return Conflicts([], "Nothing was compared with it, for the embedder does not answer.")
    titles, cosines = _compare(scope, generation, vectors)
    alike = [
        Conflict(item_id, titles[item_id], round(sum(best.values()) / len(vectors), 4))
        for item_id, best in cosines.items()
        if item_id not in except_for and sum(best.values()) >= ALIKE * len(vectors)
    ]
    alike.sort(key=lambda conflict: (-conflict.similarity, conflict.id))
    return Conflicts(alike[:MAX_CONFLICTS])


def _compare(
    scope: Scope, generation: Generation, vectors: Vectors
) -> tuple[dict[UUID, str], dict[UUID, dict[int, float]]]:
    """Search by vector: the title of each near item, and its best cosine with each piece."""
    titles: dict[UUID, str] = {}
    cosines: dict[UUID, dict[int, float]] = {}
    for number, vector in enumerate(vectors):
        rows = rank_chunks(
            scope, generation, None, vector, mode="semantic", limit=_CANDIDATES, in_full=True
        )
        for row in rows:
            titles[row["item_id"]] = row["custom_title"] or row["title"]
            best = cosines.setdefault(row["item_id"], {})
            best[number] = max(row["cosine"], best.get(number, 0.0))
    return titles, cosines


def _opening(title: str, ready: Prepared, generation: Generation) -> Vectors | None:
    """The vectors of its first pieces; of a long text these are made here, for a job makes all."""
    embedded = ready.embedded
    if embedded is None and len(ready.pieces) > INLINE_CHUNKS:
        embedded = generations.embed_inline(title, ready.pieces[:_OPENING])
    if embedded is None or embedded.generation_id != generation.pk:
        return None
    return embedded.vectors[:_OPENING]
