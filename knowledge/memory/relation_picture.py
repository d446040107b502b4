"""Relations as a picture: items as circles, and a line for each relation between them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot
from uuid import UUID

import numpy as np
from django.db.models import Q

from knowledge.access import Access, Capability
from knowledge.memory.graph_layout import HEIGHT, WIDTH, place_nodes, separate_circles
from knowledge.memory.relations import visible_items
from knowledge.models import Item, Relation
from knowledge.models.relation import RelationQuerySet

MOST_RELATIONS = 80
_RADIUS, _CENTRE_RADIUS = 11.0, 17.0
_ROOM = 16.0
"""Around each circle, for its name."""


@dataclass(frozen=True, slots=True)
class DrawnItem:
    item: Item
    x: float
    y: float
    radius: float
    is_centre: bool

    @property
    def label_y(self) -> float:
        return self.y + self.radius + 13


@dataclass(frozen=True, slots=True)
class DrawnRelation:
    relation: Relation
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class RelationPicture:
    """The same relations always give the same picture."""

    items: list[DrawnItem] = field(default_factory=list)
    relations: list[DrawnRelation] = field(default_factory=list)
    total: int = 0
    """How many relations there are; the picture has room for the newest of them."""
    width: int = WIDTH
    height: int = HEIGHT


def draw_relations(access: Access, *, around: UUID | None = None) -> RelationPicture:
    """What an item is related to and how those hang together, or the newest of all relations."""
    access.require(Capability.READ)
    relations = Relation.objects.visible_to(access).in_force()
    centre = visible_items(access, [around])[0] if around else None
    if centre is not None:
        relations = relations.filter(_between_neighbours(relations, centre))
    newest = relations.select_related("source__content", "target__content")
    light = newest.defer("source__content__text", "target__content__text")
    rows = list(light.order_by("-valid_from", "-pk")[:MOST_RELATIONS])
    items = {end.pk: end for row in rows for end in (row.source, row.target)}
    if centre is not None:
        items.setdefault(centre.pk, centre)
    return _draw(list(items.values()), rows, centre, total=relations.count())


def _between_neighbours(relations: RelationQuerySet, centre: Item) -> Q:
    out = relations.filter(source=centre).values_list("target", flat=True)
    into = relations.filter(target=centre).values_list("source", flat=True)
    near = {centre.pk, *out, *into}
    return Q(source__in=near, target__in=near)


def _draw(
    items: Sequence[Item], relations: Sequence[Relation], centre: Item | None, *, total: int
) -> RelationPicture:
    if not items:
        return RelationPicture(total=total)
    at = {item.pk: number for number, item in enumerate(items)}
    pull = np.zeros((len(items), len(items)))
    for relation in relations:
        one, other = at[relation.source_id], at[relation.target_id]
        pull[one, other] = pull[other, one] = 1.0
    is_centre = [centre is not None and item.pk == centre.pk for item in items]
    radii = np.array([_CENTRE_RADIUS if each else _RADIUS for each in is_centre])
    places = separate_circles(place_nodes(pull), radii + _ROOM)
    drawn = [
        DrawnItem(item, round(float(x), 1), round(float(y), 1), float(radius), central)
        for item, (x, y), radius, central in zip(items, places, radii, is_centre, strict=True)
    ]
    lines = [
        _line(relation, drawn[at[relation.source_id]], drawn[at[relation.target_id]])
        for relation in relations
    ]
    return RelationPicture(drawn, lines, total)


def _line(relation: Relation, start: DrawnItem, end: DrawnItem) -> DrawnRelation:
    """From rim to rim, with room for the arrow's head."""
    across, down = end.x - start.x, end.y - start.y
    length = max(hypot(across, down), 1.0)
    one, other = start.radius / length, (end.radius + 7) / length
    return DrawnRelation(
        relation,
        round(start.x + across * one, 1),
        round(start.y + down * one, 1),
        round(end.x - across * other, 1),
        round(end.y - down * other, 1),
    )
