"""Showing a skill or unit to more people: under an id that no other has, and only when screened."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection

from knowledge.access import Access
from knowledge.errors import Conflict
from knowledge.locks import NAME_KEY
from knowledge.models import REGISTRY_TYPES, UNIT_TYPES, Item, Version, Visibility
from knowledge.moderation import quarantine
from knowledge.moderation.findings import (
    ScreeningResult,
    each_once,
    refuse_secrets,
    without_allowed,
)
from knowledge.registry.contribution_screening import screen_item_fields, screen_version

WIDTH = (Visibility.PRIVATE, Visibility.ORG, Visibility.NETWORK)


def widens(item: Item, visibility: str | None) -> bool:
    """Whether more people would see a skill or unit; nothing else is shown to others at all."""
    if visibility is None or item.type not in REGISTRY_TYPES:
        return False
    return WIDTH.index(Visibility(visibility)) > WIDTH.index(Visibility(item.visibility))


def current_version(item: Item) -> Version | None:
    return Version.objects.filter(item=item).order_by("-number").first()


def current_version_id(item: Item) -> UUID | None:
    """The same without what it holds, which can be megabytes."""
    numbered = Version.objects.filter(item=item).order_by("-number")
    return numbered.values_list("pk", flat=True).first()


def screen_item(item: Item) -> ScreeningResult:
    """Screen what others would see of an item; a secret is refused.

    What an archive brought back, what older rules let in and what a job has found since is kept
    as long as it is private.
    """
    found = screen_version(item, current_version(item)).without_secrets()
    return replace(found, orders=with_those_known(item, found.orders))


def with_those_known(item: Item, orders: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The orders in a version, and what is known of it already."""
    known = without_allowed(item.suspicions)
    refuse_secrets([each for each in known if each["kind"] == "secret"])
    return with_those_beside(item, each_once([*orders, *known]))


def with_those_beside(item: Item, orders: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The orders in a version and those in title, tags and attributes, which repeat much of it.

    But for those that an admin has heard of and let pass.
    """
    beside = screen_item_fields(item).without_secrets().orders
    rules = {order["rule"] for order in orders}
    new = [order for order in beside if order["rule"] not in rules]
    return [dict(each) for each in quarantine.new_findings(item, [*orders, *new])]


def unit_key(item: Item) -> dict[str, str] | None:
    """The key of a unit that has an id; None for any other item."""
    unit_id = item.attributes.get("unit_id") if item.type in UNIT_TYPES else None
    return {"unit_id": unit_id} if unit_id else None


def lock_key(key: Mapping[str, str], *, whose: int | None = None) -> None:
    """Take the advisory lock of this key until this transaction ends."""
    name = f"registry {'' if whose is None else whose} {sorted(key.items())}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock({NAME_KEY})", [name])


def refuse_taken(
    access: Access, key: Mapping[str, str], *, besides_own: bool = False, field: str
) -> None:
    """One id is one unit to all who see it: what is shared with the caller has taken its id."""
    same = Item.objects.offered_to(access).filter(type__in=UNIT_TYPES, attributes__contains=key)
    if besides_own:
        same = same.exclude(owner_id=access.owner_id)
    if same.exists():
        raise Conflict(
            "A unit of this id is there and is not yours to change; give yours another id.",
            field=field,
            reason="id_taken",
        )
