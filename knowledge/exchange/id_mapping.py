"""Which ids an archive's rows get in a library.

Rows that the library has are found by their ids. A new row of a superuser's keeps its id unless it
is taken. Anybody else's gets an id made for its owner, whether or not somebody has the archive's:
an import must not tell which ids exist.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import TypeVar
from uuid import UUID, uuid4, uuid5

from django.contrib.auth.models import User
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

_FORMER = UUID("6e0b4f3c-5f4e-5b0e-9d57-0c1f4f8f2f0d")
"""The namespace of ids that were made before ids bore the mark of their owner."""

_MARK_BYTES = 6

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
    """Where each id is here: that of the owner's row, or the one that a new row gets."""
    names = {pk: _names_of(owner_id, pk) for pk in ids}
    rows = model._base_manager.filter(pk__in={name for some in names.values() for name in some})
    owners: dict[UUID, int | None] = dict(rows.values_list("pk", "owner_id"))
    keeps_ids = User.objects.filter(pk=owner_id, is_superuser=True).exists()
    return {pk: _place(owner_id, owners, names[pk], keeps_ids=keeps_ids) for pk in ids}


def _names_of(owner_id: int, pk: UUID) -> tuple[UUID, UUID, UUID]:
    """The ids that the row of an archive's id may have in this library."""
    return pk, uuid5(_FORMER, f"{owner_id}/{pk}"), made_for(owner_id, pk)


def _place(
    owner_id: int,
    owners: dict[UUID, int | None],
    names: tuple[UUID, UUID, UUID],
    *,
    keeps_ids: bool,
) -> Place:
    for name in names:
        if name in owners and owners[name] == owner_id:
            return Place(name, is_there=True)
    given, _, own = names
    wanted = (given, own) if keeps_ids else (own,)
    free = next((name for name in wanted if name not in owners), None)
    return Place(free or uuid4(), is_there=False)


def made_for(owner_id: int, pk: UUID) -> UUID:
    """The id that stands for another in an owner's library; one made for them stays as it is."""
    if pk.bytes[-_MARK_BYTES:] == _mark(owner_id, pk.bytes[:-_MARK_BYTES]):
        return pk
    body = bytearray(_digest(f"{owner_id}/{pk}".encode(), 16 - _MARK_BYTES))
    body[6] = 0x80 | body[6] & 0x0F  # version 8: made by an application's own rule
    body[8] = 0x80 | body[8] & 0x3F
    return UUID(bytes=bytes(body) + _mark(owner_id, bytes(body)))


def _mark(owner_id: int, body: bytes) -> bytes:
    """What the ids made for one owner end in, so that an export and its import agree on them."""
    return _digest(b"%d/%s" % (owner_id, body), _MARK_BYTES)


def _digest(data: bytes, size: int) -> bytes:
    return blake2b(data, digest_size=size).digest()


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
