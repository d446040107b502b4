"""Undoing what a token wrote: all of it within a span of time, and nothing else."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from knowledge.models import Change, ChangeKind
from knowledge.undo.base import SinceChanged
from knowledge.undo.kinds import undo_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One thing that a token wrote and, if it is not undone, the reason."""

    kind: str
    target: UUID
    title: str
    at: datetime
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')}: {self.title}"


@dataclass(frozen=True, slots=True)
class Undone:
    """What was undone, newest first, and what was left because somebody else has changed it."""

    undone: list[Write] = field(default_factory=list)
    skipped: list[Write] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind are undone."""
        found = Counter(write.kind for write in self.undone)
        return {kind: found[kind] for kind in ChangeKind.values if found[kind]}


def undo(
    owner_id: int, token_id: UUID, *, since: datetime, until: datetime | None = None
) -> Undone:
    """Revert what the token wrote, newest first; run again, it goes on where it was stopped."""
    return _run(owner_id, token_id, since, until, rehearse=False)


def preview(
    owner_id: int, token_id: UUID, *, since: datetime, until: datetime | None = None
) -> Undone:
    """What `undo` would do now; nothing is changed."""
    with transaction.atomic():
        would = _run(owner_id, token_id, since, until, rehearse=True)
        transaction.set_rollback(True)
    return would


def _run(
    owner_id: int, token_id: UUID, since: datetime, until: datetime | None, *, rehearse: bool
) -> Undone:
    changes = Change.objects.filter(
        owner_id=owner_id, token_id=token_id, at__gte=since, undone_at=None
    ).order_by("-pk")
    if until is not None:
        changes = changes.filter(at__lte=until)
    result = Undone()
    for change_id in list(changes.values_list("pk", flat=True)):
        write = revert(change_id, rehearse=rehearse)
        if write is not None:
            (result.skipped if write.reason else result.undone).append(write)
    return result


def revert(change_id: int, *, rehearse: bool = False) -> Write | None:
    """Undo one change and put that on its record; None if another run was first."""
    changes = Change.objects.filter(pk=change_id, undone_at=None)
    change = changes.first()
    if change is None:
        return None
    step, reason = undo_of(change), ""
    if not rehearse:
        step.prepare()
    try:
        with transaction.atomic():
            if not changes.select_for_update().values_list("pk").first():
                return None
            step.check()
            step.rehearse() if rehearse else step.apply()
            changes.update(undone_at=timezone.now())
    except SinceChanged as error:
        reason = str(error)
    except IntegrityError:
        reason = "Somebody else is changing it at this moment; undo again."
    return Write(
        kind=change.kind, target=change.target, title=change.title, at=change.at, reason=reason
    )
