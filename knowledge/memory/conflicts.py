"""Near-duplicates of a new text, among the items that the caller may see."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from knowledge.access import Access
from knowledge.indexing import generations
from knowledge.indexing.generations import INLINE_CHUNKS
from knowledge.indexing.preparing import Prepared
from knowledge.models import MEMORY_TYPES, Generation
from knowledge.providers.protocols import Vectors
from knowledge.retrieval.scope import Narrowing, scope_of
from knowledge.retrieval.statement import NearItem, nearest_items

ALIKE = 0.85
"""The cosine from which two texts are said to be near-duplicates."""
MAX_CONFLICTS = 3

_OPENING = 4
"""Pieces of a long text that are compared; what begins alike and goes on otherwise is not alike."""
_CANDIDATES = 20
_ROUNDING = 0.001


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


class Compared(NamedTuple):
    """A text about to be written, and the items that it may be like, as it is to replace them."""

    title: str
    ready: Prepared
    except_for: Collection[UUID]


def near_duplicates(access: Access, texts: Sequence[Compared]) -> list[Conflicts]:
    """Of each text about to be written, the memory that it comes close to."""
    scope, generation = scope_of(access, Narrowing(types=MEMORY_TYPES))
    openings = [_opening(each.title, each.ready, generation) for each in texts]
    vectors = [vector for each in openings if each is not None for vector in each]
    least = _least_cosine(max((len(each) for each in openings if each is not None), default=1))
    near = iter(nearest_items(scope, generation, vectors, limit=_CANDIDATES, least=least))
    # Of a batch, a job embeds what comes late, whether the embedder answers or not.
    reason = "the embedder does not answer" if len(texts) == 1 else "a job embeds it later"
    return [
        Conflicts([], f"Nothing was compared with it, for {reason}.")
        if opening is None
        else _conflicts([next(near) for _ in opening], each.except_for)
        for each, opening in zip(texts, openings, strict=True)
    ]


def _least_cosine(pieces: int) -> float:
    """An item less near to one of so many pieces is not alike, were it the same as the others."""
    return 1 - pieces * (1 - ALIKE) - _ROUNDING


def _conflicts(near: Sequence[Sequence[NearItem]], except_for: Collection[UUID]) -> Conflicts:
    """The items that are near to each piece of a text, as far as they are near to all of it."""
    compared: dict[UUID, tuple[str, list[float]]] = {}
    for number, found in enumerate(near):
        for item in found:
            _, best = compared.setdefault(item.id, (item.title, [0.0] * len(near)))
            best[number] = max(item.cosine, best[number])
    alike = [
        Conflict(item_id, title, round(sum(best) / len(near), 4))
        for item_id, (title, best) in compared.items()
        if sum(best) >= ALIKE * len(near) and item_id not in except_for
    ]
    alike.sort(key=lambda conflict: (-conflict.similarity, conflict.id))
    return Conflicts(alike[:MAX_CONFLICTS])


def _opening(title: str, ready: Prepared, generation: Generation) -> Vectors | None:
    """The vectors of its first pieces; of a long text these are made here, for a job makes all."""
    embedded = ready.embedded
    if embedded is None and len(ready.pieces) > INLINE_CHUNKS:
        [embedded] = generations.embed_inline([(title, ready.pieces[:_OPENING])])
    if embedded is None or embedded.generation_id != generation.pk:
        return None
    return embedded.vectors[:_OPENING]
