"""Suspicions, and quarantine: hiding an item from others until an admin rules on it."""

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from knowledge.access import Access
from knowledge.errors import CapabilityDenied, NotFound
from knowledge.ledger import changes
from knowledge.models import (
    HeldBack,
    Item,
    ItemType,
    Quarantine,
    QuarantineReason,
    Verdict,
    Version,
    Visibility,
)
from knowledge.moderation.findings import each_once
from knowledge.validation import clean_text, one_of

MAX_NOTE = 2_000
RULINGS = (Verdict.RESTORED.value, Verdict.UPHELD.value)
_SCREENED = ("injection", "secret")
"""The kinds of what the screening finds; others say why an item is held back besides."""
_CAME_AGAIN = {
    "kind": "deleted",
    "rule": "was_held_back",
    "sentence": "It was deleted while it was held back, and has come again.",
    "path": "",
}


def suspect(
    access: Access,
    item: Item,
    findings: Iterable[Mapping[str, Any]],
    *,
    reworded: Collection[str] | None = None,
) -> None:
    """Mark an item with the findings of its new text; undoing that text undoes the mark.

    Findings of other parts stay. A shared item is quarantined; a private one is only marked.
    """
    found = each_once(findings)
    before = changes.values_of(item, ("quarantined", "suspicions"))
    suspicions = each_once([*_of_other_words(item, reworded), *found])
    is_news = found or not item.quarantined
    held = quarantine_item(item, suspicions) if suspicions and is_news and is_shared(item) else None
    _set(item, suspicions=suspicions)
    changes.item_changed(access, item, before)
    if held is not None and not before["quarantined"]:
        changes.row_added(access, held, fields=["verdict"])


def suspect_later(item: Item, findings: Iterable[Mapping[str, Any]]) -> bool:
    """Mark an item with what a job found in it; whether any of it is news.

    What is shared is held back from then on, and others never read the version it was found in.
    """
    known = [*item.suspicions, *_findings_let_pass(item)]
    new = [finding for finding in each_once(findings) if finding not in known]
    if not new:
        return False
    if is_shared(item):
        quarantine_item(item, new)
    _set(item, suspicions=[*item.suspicions, *new])
    _show_current_version_to(item, Visibility.PRIVATE)
    return True


def is_shared(item: Item) -> bool:
    return item.visibility != Visibility.PRIVATE


def new_findings(item: Item, findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The findings that no admin has let pass for the item's current version."""
    known = _findings_let_pass(item)
    return [finding for finding in findings if finding not in known]


def _findings_let_pass(item: Item) -> list[Mapping[str, Any]]:
    heard = Quarantine.objects.filter(item=item, verdict=Verdict.RESTORED)
    current = Version.objects.filter(item=item).order_by("-number").only("created_at").first()
    if current is not None:
        heard = heard.filter(ruled_at__gte=current.created_at)
    return [each for told in heard.values_list("findings", flat=True) for each in told]


def _of_other_words(item: Item, reworded: Collection[str] | None) -> list[Mapping[str, Any]]:
    """The findings of the parts of an item that were not rewritten; None means that all were."""
    if reworded is None:
        return []
    return [finding for finding in item.suspicions if _part(finding["path"]) not in reworded]


def _part(path: str) -> str:
    """The member of an item that a path leads to: `tags` of `$.tags[0]`."""
    return path.removeprefix("$.").partition(".")[0].partition("[")[0]


def _reason(findings: Iterable[Mapping[str, Any]]) -> QuarantineReason:
    has_secret = any(finding.get("kind") == "secret" for finding in findings)
    return QuarantineReason.SECRET if has_secret else QuarantineReason.INJECTION


def quarantine_item(
    item: Item,
    findings: Collection[Mapping[str, Any]],
    reason: QuarantineReason | str | None = None,
) -> Quarantine:
    """Quarantine an item: hide it from everybody but its owner, in the caller's transaction.

    Findings that come while the quarantine is open are added to it.
    """
    quarantine, is_new = Quarantine.objects.get_or_create(
        item=item,
        verdict=Verdict.OPEN,
        defaults={
            "reason": QuarantineReason(reason or _reason(findings)),
            "findings": list(findings),
        },
    )
    if not is_new:
        quarantine.findings = each_once([*quarantine.findings, *findings])
        quarantine.save(update_fields=["findings"])
    _set(item, quarantined=True)
    return quarantine


def quarantine_again(access: Access, item: Item, digests: Collection[str]) -> list[dict[str, Any]]:
    """Quarantine an item that its owner deleted during quarantine and added again."""
    marks = {*digests, *_names_of(item)}
    deleted = HeldBack.objects.filter(owner_id=item.owner_id, digest__in=marks).first()
    if deleted is None:
        return []
    before = changes.values_of(item, ("quarantined",))
    held = quarantine_item(item, [_CAME_AGAIN], deleted.reason)
    changes.item_changed(access, item, before)
    if not before["quarantined"]:
        changes.row_added(access, held, fields=["verdict"])
    return [dict(_CAME_AGAIN)]


def remember_deleted(item: Item) -> None:
    """Store the digests of a quarantined item that is being deleted, of all its versions."""
    last = last_of(item)
    if last is None or last.verdict == Verdict.RESTORED:
        return
    HeldBack.objects.bulk_create(
        [
            HeldBack(owner_id=item.owner_id, digest=mark, reason=last.reason)
            for mark in sorted(_marks_of(item))
        ],
        ignore_conflicts=True,
    )


def forget_deleted(item: Item) -> None:
    """Delete the stored digests of this item."""
    HeldBack.objects.filter(owner_id=item.owner_id, digest__in=_marks_of(item)).delete()


def _marks_of(item: Item) -> set[str]:
    """What tells a contribution when it comes again: its versions, and what it goes by."""
    digests = Version.objects.filter(item=item).values_list("digest", flat=True)
    return {*digests, *_names_of(item)}


def _names_of(item: Item) -> set[str]:
    """The id of a unit or the name of a skill, under which a new text is a version of it."""
    named = "name" if item.type == ItemType.SKILL else "unit_id"
    value = item.attributes.get(named)
    return {sha256(f"{named}:{value}".encode()).hexdigest()} if value else set()


def last_of(item: Item) -> Quarantine | None:
    """The quarantine that tells how an item stands: the open one, or what was ruled on last."""
    last = F("ruled_at").desc(nulls_first=True)
    return Quarantine.objects.filter(item=item).order_by(last, "-at").first()


def drop_quarantine(item: Item) -> None:
    """Delete a quarantine without a verdict, in the caller's transaction."""
    Quarantine.objects.filter(item=item, verdict=Verdict.OPEN).delete()
    _set(item, quarantined=False)


@transaction.atomic
def rule(user: AbstractUser, quarantine_id: UUID, verdict: str, note: str = "") -> Quarantine:
    """Decide as an admin: others find a restored item again, and never an upheld one.

    Its owner has it either way. An admin may think better of it: the latest verdict holds.
    """
    if not user.has_perm("knowledge.change_quarantine"):
        raise CapabilityDenied(
            "Only an admin rules on what is quarantined.", required=["admin"], have=[]
        )
    ruling = Verdict(one_of(verdict, RULINGS, field="verdict"))
    note = clean_text(note, field="note", shortest=0, longest=MAX_NOTE)
    quarantine = _lock_quarantine(quarantine_id)
    quarantine.verdict, quarantine.note = ruling, note
    quarantine.ruled_by_id, quarantine.ruled_at = user.pk, timezone.now()
    quarantine.save(update_fields=["verdict", "note", "ruled_by", "ruled_at"])
    is_fine = ruling == Verdict.RESTORED
    found = [each for each in quarantine.findings if each.get("kind") in _SCREENED]
    known = [each for each in quarantine.item.suspicions if each not in found]
    suspicions = known if is_fine else [*known, *found]
    _set(quarantine.item, quarantined=not is_fine, suspicions=suspicions)
    if is_fine:
        forget_deleted(quarantine.item)
    _show_as_ruled(quarantine)
    return quarantine


def _show_as_ruled(quarantine: Quarantine) -> None:
    """Let others read the version that an admin has let pass, also when it is a past one.

    Suspected versions are private; those that a later one has replaced stay so, for the admin
    has ruled on what the item says now.
    """
    if all(finding.get("kind") == "report" for finding in quarantine.findings):
        return
    is_fine = quarantine.verdict == Verdict.RESTORED
    seen_by = Visibility(quarantine.item.visibility) if is_fine else Visibility.PRIVATE
    _show_current_version_to(quarantine.item, seen_by)


def _show_current_version_to(item: Item, visibility: Visibility) -> None:
    current = Version.objects.filter(item=item).order_by("-number").only("visibility").first()
    if current is not None:
        current.visibility = visibility
        current.save(update_fields=["visibility"])


def _lock_quarantine(quarantine_id: UUID) -> Quarantine:
    """Lock the item and then the quarantine: always in this order, to avoid deadlock."""
    quarantines = Quarantine.objects.filter(pk=quarantine_id)
    item = Item.objects.select_for_update().filter(quarantines=quarantine_id).first()
    quarantine = quarantines.select_for_update(of=("self",)).first()
    if item is None or quarantine is None:
        raise NotFound("No such quarantine; its item may have been deleted.")
    quarantine.item = item
    return quarantine


def _set(item: Item, **fields: Any) -> None:
    """Save what differs, and nothing where nothing does."""
    changed = {name: value for name, value in fields.items() if getattr(item, name) != value}
    for name, value in changed.items():
        setattr(item, name, value)
    if changed:
        item.save(update_fields=[*changed, "updated_at"])
