"""Relations between items: typed, weighted edges that are ended and never overwritten."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InvalidInput, not_found
from knowledge.ledger import changes
from knowledge.locks import Lock
from knowledge.models import Folder, Item, ItemType, Relation, RelationType
from knowledge.models.key_locks import lock_keys
from knowledge.models.relation import RelationQuerySet
from knowledge.retrieval import visibility_sql
from knowledge.retrieval.binary_cursor import fetch
from knowledge.validation import one_of, within

MAX_PER_PAGE = 200
MAX_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class RelationPage:
    """Some of an item's relations, and how many the caller sees of them all."""

    relations: list[Relation]
    total: int
    page: int
    per_page: int


class SeenRelation(NamedTuple):
    """A relation as a search reads it."""

    id: UUID
    source: UUID
    target: UUID
    type: str
    weight: float


def relate(
    access: Access,
    source_id: UUID,
    target_id: UUID,
    *,
    type: str = RelationType.RELATED_TO,
    weight: float = 1.0,
) -> Relation:
    """Relate two items that the caller sees; the same again answers the relation there is."""
    access.require(Capability.WRITE)
    kind = RelationType(one_of(type, RelationType.values, field="type"))
    _refuse_no_share(weight)
    if source_id == target_id:
        raise InvalidInput("An item cannot be related to itself.", field="target_id")
    with all_still_there():
        source = lock_item(access, source_id)
        lock_keys(Item, [target_id])
        target = visible_items(access, [target_id])[0]
        if kind == RelationType.BELONGS_TO:
            _refuse_no_project(source, target)
        if kind == RelationType.DEPENDS_ON:
            _refuse_no_tasks(source, target)
        return link(access, source, target, type=kind, weight=float(weight))


@transaction.atomic
def unrelate(access: Access, relation_id: UUID) -> Relation:
    """End a relation that the caller sees; ending it twice is the same as once."""
    access.require(Capability.WRITE)
    relations = Relation.objects.visible_to(access).select_for_update(of=("self",))
    relation = _with_titles(relations).filter(pk=relation_id).first()
    if relation is None:
        raise not_found("relation")
    if _follows_from_project(relation):
        raise Conflict(
            "This relation follows from the item's project; give a task another project with "
            "update_task instead."
        )
    if relation.valid_until is None:
        end(access, relation)
    return relation


def relations_of(
    access: Access,
    item_id: UUID,
    *,
    include_ended: bool = False,
    page: int = 1,
    per_page: int = 50,
) -> RelationPage:
    """An item's relations in both directions, newest first, as far as the caller sees both ends."""
    access.require(Capability.READ)
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    item = visible_items(access, [item_id])[0]
    relations = Relation.objects.visible_to(access).filter(Q(source=item) | Q(target=item))
    if not include_ended:
        relations = relations.in_force()
    start = (page - 1) * per_page
    rows = _with_titles(relations).order_by("-valid_from", "-pk")[start : start + per_page]
    return RelationPage(list(rows), relations.count(), page, per_page)


def contradictions_among(access: Access, item_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Which of these items are contradicted, and by which others that the caller sees."""
    access.require(Capability.READ)
    asked = set(item_ids)
    contested: dict[UUID, set[UUID]] = {}
    for _, source_id, target_id, *_ in relations_of_any(access, asked, [RelationType.CONTRADICTS]):
        for one, other in ((source_id, target_id), (target_id, source_id)):
            if one in asked:
                contested.setdefault(one, set()).add(other)
    return {item_id: sorted(others) for item_id, others in contested.items()}


def relations_of_any(
    access: Access, item_ids: Collection[UUID], types: Collection[str], *, most: int | None = None
) -> list[SeenRelation]:
    """The relations in force of these types that lead to or from any of the items, as far as the
    caller sees both ends; the weightiest first."""
    if not item_ids:
        return []
    sql, params = visibility_sql.relations_sql(access)
    asked = {"items": list(item_ids), "types": [str(each) for each in types], "most": most}
    rows = fetch(_OF_ANY.format(relations=sql), {**params, **asked})
    return [SeenRelation(**row) for row in rows]


_OF_ANY = """
    SELECT id, source, target, type, weight
    FROM ({relations}) AS seen (id, source, target, type, weight)
    WHERE type = ANY(%(types)s::text[])
        AND (source = ANY(%(items)s::uuid[]) OR target = ANY(%(items)s::uuid[]))
    ORDER BY weight DESC, id LIMIT %(most)s::bigint"""


# For asks that relate what they write ----------------------------------------------------------


@contextmanager
def all_still_there() -> Iterator[None]:
    """A transaction that ends in the one refusal when what it leans on is deleted meanwhile."""
    try:
        with transaction.atomic():
            yield
    except (IntegrityError, Folder.DoesNotExist):
        raise not_found("item") from None


def visible_items(access: Access, item_ids: Sequence[UUID]) -> list[Item]:
    """These items in the given order; an item that the caller does not see is an error."""
    if not item_ids:  # as most calls have it: the query would be put together for nothing
        return []
    items = Item.objects.visible_to(access).select_related("content").defer("content__text")
    found = items.in_bulk(item_ids)
    if len(found) < len(set(item_ids)):
        raise not_found("item")
    return [found[item_id] for item_id in item_ids]


def lock_item(access: Access, item_id: UUID) -> Item:
    """Lock an item's row until this transaction ends, so that its relations stay as they are."""
    # Not its key too, to avoid deadlock between two items that are being related to each other.
    held = Item.objects.visible_to(access).select_for_update(of=("self",), no_key=True)
    item = held.select_related("content").filter(pk=item_id).first()
    if item is None:
        raise not_found("item")
    return item


def link(
    access: Access, source: Item, target: Item, *, type: RelationType, weight: float = 1.0
) -> Relation:
    """Make a relation that holds from now on, within the caller's transaction, which holds the
    source; another weight ends the relation there was."""
    there = Relation.objects.visible_to(access).filter(
        source=source, target=target, type=type, valid_until=None
    )
    if old := there.first():
        if old.weight == weight:
            old.source, old.target = source, target
            return old
        end(access, old)
    elif type == RelationType.DEPENDS_ON:
        _refuse_cycle(access, source, target)
    relation = Relation.objects.create(
        owner_id=access.owner_id,
        source=source,
        target=target,
        type=type,
        weight=weight,
        added_by_token=access.token_id,
    )
    changes.row_added(access, relation)
    return relation


def end(access: Access, relation: Relation) -> None:
    """Have a relation hold no longer, within the caller's transaction, which holds its source."""
    before = changes.as_data(relation)
    relation.valid_until = timezone.now()
    relation.save(update_fields=["valid_until"])
    changes.row_changed(access, relation, before)


def _refuse_no_share(weight: float) -> None:
    if isinstance(weight, bool) or not 0 <= weight <= 1:
        raise InvalidInput("weight must be between 0 and 1.", field="weight", minimum=0, maximum=1)


def _refuse_no_project(source: Item, target: Item) -> None:
    if source.type == ItemType.TASK:
        raise Conflict("Give a task another project with update_task and data.project.")
    if target.type != ItemType.PROJECT:
        raise InvalidInput("belongs_to leads to a project.", field="target_id")


def _refuse_no_tasks(source: Item, target: Item) -> None:
    if not source.type == target.type == ItemType.TASK:
        raise InvalidInput(
            "depends_on is between two tasks; anything else is needed by requires.", field="type"
        )


def _follows_from_project(relation: Relation) -> bool:
    project = relation.source.attributes.get("project")
    is_so = relation.type == RelationType.BELONGS_TO and project == str(relation.target_id)
    return is_so and relation.valid_until is None


def _refuse_cycle(access: Access, source: Item, target: Item) -> None:
    """Refuse a dependency that leads back to where it comes from, over what the caller sees."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [Lock.DEPENDENCIES, access.owner_id])
    path = _way(access, target.pk, source.pk)
    if not path:
        return
    cycle = visible_items(access, [source.pk, *path])
    raise InvalidInput(
        f"This would close a cycle: {' → '.join(item.title for item in cycle)}.",
        field="depends_on",
        cycle=[str(item.pk) for item in cycle],
    )


def _way(access: Access, start: UUID, goal: UUID) -> list[UUID]:
    """From one item to another along dependencies that the caller sees; empty if there is none."""
    came_from: dict[UUID, UUID | None] = {start: None}
    edge: set[UUID] = {start}
    depends = Relation.objects.visible_to(access).in_force().filter(type=RelationType.DEPENDS_ON)
    while edge and goal not in came_from:
        steps = depends.filter(source__in=edge).values_list("source", "target")
        new = {target: source for source, target in steps if target not in came_from}
        came_from |= new
        edge = set(new)
    at: UUID | None = goal if goal in came_from else None
    way = []
    while at is not None:
        way.append(at)
        at = came_from[at]
    return way[::-1]


def _with_titles(relations: RelationQuerySet) -> RelationQuerySet:
    related = relations.select_related("source__content", "target__content")
    return related.defer("source__content__text", "target__content__text")
