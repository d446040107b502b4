"""What can still be undone in one library: the actions of its owner, and all that was deleted."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    Max,
    OuterRef,
    QuerySet,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import RowNumber
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import NotFound
from knowledge.ledger.changes import KEPT_FOR
from knowledge.models import Change, ChangeKind, Item
from knowledge.undo.token_writes import Undone, revert

PER_PAGE = 30
NAMED = 3
"""Changes of an action that are listed by name; the others are counted."""
DELETIONS = (ChangeKind.ITEM_DELETED, ChangeKind.FOLDER_DELETED)
MAX_TITLE = 200

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What one press of a button changed."""

    id: UUID
    at: datetime
    kinds: list[str]
    count: int
    undone: int
    newest: "list[Change]"
    """A few of its changes, without what was before them."""

    @property
    def is_undone(self) -> bool:
        return self.undone == self.count

    @property
    def others(self) -> int:
        return self.count - len(self.newest)


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """One page of a list, and whether there is another."""

    rows: list[T]
    has_more: bool


def list_actions(
    access: Access, *, besides: Collection[UUID], title: str = "", page: int = 1
) -> Listed[Action]:
    """The owner's own actions, newest first; `besides` are the ids of the owner's tokens."""
    own = _changes(access, title).exclude(token_id__in=besides)
    first = (page - 1) * PER_PAGE
    found: list[dict[str, Any]] = list(
        own.order_by()
        .values("token_id")
        .annotate(
            last=Max("pk"),
            moment=Max("at"),
            kinds=ArrayAgg("kind", distinct=True),
            count=Count("pk"),
            undone=Count("undone_at"),
        )
        .order_by("-last")[first : first + PER_PAGE + 1]
    )
    named = _newest_of(own, [each["token_id"] for each in found[:PER_PAGE]])
    actions = [
        Action(
            id=each["token_id"],
            at=each["moment"],
            kinds=each["kinds"],
            count=each["count"],
            undone=each["undone"],
            newest=[change for change in named if change.token_id == each["token_id"]],
        )
        for each in found[:PER_PAGE]
    ]
    return Listed(actions, len(found) > PER_PAGE)


def list_deletions(access: Access, *, title: str = "", page: int = 1) -> Listed[Change]:
    """Items and folders that anybody deleted here and that can be brought back, newest first."""
    gone = _changes(access, title).filter(kind__in=DELETIONS, undone_at=None).defer("before")
    first = (page - 1) * PER_PAGE
    rows = list(gone.order_by("-pk")[first : first + PER_PAGE + 1])
    return Listed(rows[:PER_PAGE], len(rows) > PER_PAGE)


def undo_change(access: Access, change_id: int) -> Undone:
    """Revert one change of the library, whoever made it."""
    access.require(Capability.WRITE)
    if not _changes(access, "").filter(pk=change_id).exists():
        raise NotFound("This change is not on record any more.")
    write = revert(change_id)
    if write is None:
        return Undone()
    return Undone([], [write]) if write.reason else Undone([write], [])


def _changes(access: Access, title: str) -> QuerySet[Change]:
    access.require(Capability.READ)
    access.require_whole_library()
    changes = Change.objects.filter(owner_id=access.owner_id, at__gte=timezone.now() - KEPT_FOR)
    words = title.replace("\x00", "").split()[:10]
    for word in words:
        changes = changes.filter(title__icontains=word[:MAX_TITLE])
    return changes


def _newest_of(changes: QuerySet[Change], action_ids: Collection[UUID]) -> list[Change]:
    """The few newest changes of each action; a deleted text is left where it is."""
    nth = Window(RowNumber(), partition_by=F("token_id"), order_by=F("pk").desc())
    model = Case(
        When(
            kind__in=(ChangeKind.ROW_CHANGED, ChangeKind.ROW_DELETED),
            then=KeyTextTransform("model", "before"),
        ),
        When(kind=ChangeKind.ROW_ADDED, then=KeyTextTransform("model", "after")),
        default=Value(""),
        output_field=CharField(),
    )
    there = Exists(Item.objects.filter(pk=OuterRef("target")))
    rows = changes.filter(token_id__in=action_ids)
    rows = rows.annotate(nth=nth, model=model, is_item_there=there)
    return list(rows.filter(nth__lte=NAMED).defer("before").order_by("-pk"))
