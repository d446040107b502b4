"""How much of a contribution is new, by the one search engine: what is there that is like it."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from knowledge.access import Access, Capability
from knowledge.errors import ProviderUnavailable
from knowledge.models import Generation, Item, Relation, RelationType, Visibility
from knowledge.retrieval import semantic
from knowledge.retrieval.scope import Narrowing, Reach, Scope, scope_of
from knowledge.retrieval.statement import Shown, rank_chunks
from knowledge.text.chunking import Piece, chunk
from knowledge.trust.quality import Measurement

logger = logging.getLogger(__name__)

UNKNOWN = 0.5
"""Assumed where meaning cannot be compared; a job asks again."""

MOST_PIECES = 4
"""Pieces of a long text that are compared, from its beginning to its end."""

SAME = 0.97
"""From this calibrated cosine on, one text is a copy of the other but for a word or two."""
_MOST_NEIGHBOURS = 20
_READ = 2_000
"""Characters of a piece that are compared."""
_NOBODY = Access(owner_id=0, capabilities=frozenset({Capability.READ}), folder_ids=None)
"""Someone who owns nothing and belongs nowhere: sees what everybody sees."""


@dataclass(frozen=True, slots=True)
class Novelty:
    """How new a text is (0 to 1), and whether that is measured or assumed."""

    value: float
    is_known: bool
    because: str
    same: frozenset[UUID] = frozenset()
    """What says nearly the same as all of it."""

    @property
    def measurement(self) -> Measurement:
        return Measurement(self.value, self.because)


def novelty_of(item: Item) -> Novelty:
    """What was new about an item when it was first contributed.

    It is compared only with older items, so that copying a work does not lower its novelty.
    """
    replaced = Relation.objects.filter(source=item, type=RelationType.SUPERSEDES)
    return novelty_of_text(
        item.owner_id,
        title=item.title,
        text=item.content.text,
        visibility=item.visibility,
        before=item.arrived_at,
        leave_out=set(replaced.values_list("target_id", flat=True)),
    )


def novelty_of_text(
    owner_id: int,
    *,
    title: str,
    text: str,
    visibility: str,
    before: datetime | None = None,
    leave_out: Collection[UUID] = (),
    pieces: Sequence[Piece] | None = None,
) -> Novelty:
    """One less the calibrated cosine to what is there: the mean of each piece's nearest.

    Who has cut the text already gives its pieces.
    """
    scope, generation = scope_of(
        _reader(owner_id, visibility), Narrowing(before=before), Reach.REGISTRY
    )
    try:
        found = [
            _alike(scope, generation, piece.indexed_text(title), visibility, leave_out)
            for piece in _some(chunk(text) if pieces is None else pieces)
        ]
    except ProviderUnavailable as error:
        logger.warning("Novelty is assumed", exc_info=True)
        return Novelty(UNKNOWN, False, f"Half is assumed until it can be compared: {error.message}")
    nearest = [max(alike.values(), default=0.0) for alike in found]
    likeness = sum(nearest) / len(nearest) if nearest else 0.0
    said = f"What is there already is like it to {likeness:.0%}."
    return Novelty(1 - likeness, True, said, _same_in_all(found))


def _reader(owner_id: int, visibility: str) -> Access:
    """With what a text is compared: nothing that some of its readers may not know of."""
    if visibility == Visibility.NETWORK:
        return _NOBODY
    return Access.whole_library(owner_id)


def _some(pieces: Sequence[Piece]) -> list[Piece]:
    if len(pieces) <= MOST_PIECES:
        return list(pieces)
    return [pieces[at * (len(pieces) - 1) // (MOST_PIECES - 1)] for at in range(MOST_PIECES)]


def _same_in_all(found: Sequence[Mapping[UUID, float]]) -> frozenset[UUID]:
    same = [{pk for pk, score in alike.items() if score >= SAME} for alike in found]
    return frozenset(set.intersection(*same)) if same else frozenset()


def _alike(
    scope: Scope,
    generation: Generation,
    text: str,
    visibility: str,
    leave_out: Collection[UUID],
) -> dict[UUID, float]:
    """The items nearest to a piece, and how near."""
    vector = semantic.embed(generation, text[:_READ])
    rows = rank_chunks(
        scope,
        generation,
        None,
        vector,
        mode="semantic",
        limit=_MOST_NEIGHBOURS,
        shown=Shown.IN_FULL,
    )
    alike: dict[UUID, float] = {}
    for row in rows:
        is_compared = visibility == Visibility.PRIVATE or row["visibility"] != Visibility.PRIVATE
        if is_compared and row["item_id"] not in leave_out:
            alike.setdefault(row["item_id"], float(row["semantic_score"]))
    return alike
