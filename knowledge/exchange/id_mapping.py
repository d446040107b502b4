"""Which ids an archive's rows get in a library: their own, unless another owner has them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID, uuid4, uuid5

from django.db.models import Model

from knowledge.access import Access
from knowledge.models import (
    Content,
    Feed,
    Folder,
    Highlight,
    Item,
    Relation,
    SavedSearch,
    Source,
)

_TAKEN = UUID("6e0b4f3c-5f4e-5b0e-9d57-0c1f4f8f2f0d")
"""The namespace of ids that stand for those which another owner has."""

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Place:
    """The id that a record has here, and whether its row is there already."""

    id: UUID
    is_there: bool


def places(
    model: type[Folder | Item | Content | Relation | Source | Feed | Highlight | SavedSearch],
    owner_id: int,
    ids: Collection[UUID],
) -> dict[UUID, Place]:
    """Where each id is here: the same one, unless another owner has it."""
    stand_ins = {pk: uuid5(_TAKEN, f"{owner_id}/{pk}") for pk in ids}
    rows = model._base_manager.filter(pk__in=[*stand_ins.keys(), *stand_ins.values()])
    owners: dict[UUID, int | None] = dict(rows.values_list("pk", "owner_id"))
    return {pk: _place(owner_id, owners, (pk, stand_ins[pk])) for pk in ids}


def _place(owner_id: int, owners: dict[UUID, int | None], ids: tuple[UUID, UUID]) -> Place:
    for pk in ids:
        if pk in owners and owners[pk] == owner_id:
            return Place(pk, is_there=True)
    free = next((pk for pk in ids if pk not in owners), None)
    return Place(free or uuid4(), is_there=False)


def items_here(access: Access, ids: Collection[UUID]) -> dict[UUID, UUID]:
    """What these items are here, as far as they are there."""
    here = places(Item, access.owner_id, ids)
    seen = Item.objects.visible_to(access).filter(pk__in=[place.id for place in here.values()])
    there = set(seen.values_list("pk", flat=True))
    return {pk: place.id for pk, place in here.items() if place.id in there}


def date_rows(model: type[Row], field: str, rows: list[Row], dates: Sequence[datetime]) -> None:
    """Give rows their dates, which the database would have be now."""
    for row, date in zip(rows, dates, strict=True):
        setattr(row, field, date)
    model._default_manager.bulk_update(rows, [field])
