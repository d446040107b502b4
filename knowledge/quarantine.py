"""What is held back from every search until an admin has ruled, and why."""

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from knowledge import changes
from knowledge.access import Access
from knowledge.errors import CapabilityDenied, InvalidInput, NotFound
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
from knowledge.screening import Finding, screen_document
from knowledge.validation import clean_text, one_of

MAX_NOTE = 2_000
RULINGS = (Verdict.RESTORED.value, Verdict.UPHELD.value)
_CAME_AGAIN = {
    "kind": "deleted",
    "rule": "was_held_back",
    "sentence": "It was deleted while it was held back, and has come again.",
    "path": "",
}


Found = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""The secrets in something, and what looks like orders to a model, each told once."""


def screened(*values: Any) -> list[dict[str, Any]]:
    """What looks like orders to a model in these texts or JSON values; a secret is refused."""
    return refused_if_secret(*found_in(*values))


def refused_if_secret(
    secrets: list[dict[str, Any]], orders: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The orders that were found, unless a secret was."""
    if secrets:
        first = secrets[0]
        where = "" if first["path"] in ("", "$") else f" (at {first['path']})"
        raise InvalidInput(
            f"This looks like a secret: {first['sentence'].removesuffix('.')}{where}. "
            "Take it out or put a placeholder in its place, and send it again.",
            findings=secrets,
        )
    return orders


def found_in(*values: Any) -> Found:
    """The secrets in these texts or JSON values, and what looks like orders to a model."""
    verdicts = [screen_document(value) for value in values]
    secrets = each_once(_told(finding) for verdict in verdicts for finding in verdict.secrets)
    return secrets, each_once(_told(each) for verdict in verdicts for each in verdict.injections)


def each_once(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same rule at the same place is one finding to whoever is told."""
    told: list[dict[str, Any]] = []
    for finding in findings:
        if finding not in told:
            told.append(dict(finding))
    return told


def unheard(item: Item, findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The findings that no admin has heard of and let pass in this item."""
    heard = Quarantine.objects.filter(item=item, verdict=Verdict.RESTORED)
    known = [each for told in heard.values_list("findings", flat=True) for each in told]
    return [finding for finding in findings if finding not in known]


def hold(
    item: Item, reason: QuarantineReason | str, findings: Iterable[Mapping[str, Any]] = ()
) -> Quarantine:
    """Keep an item out of every search, in the caller's transaction.

    What is found while it waits for a verdict is added to what the admin will read.
    """
    quarantine, is_new = Quarantine.objects.get_or_create(
        item=item,
        verdict=Verdict.OPEN,
        defaults={"reason": QuarantineReason(reason), "findings": list(findings)},
    )
    if not is_new:
        quarantine.findings = each_once([*quarantine.findings, *findings])
        quarantine.save(update_fields=["findings"])
    _mark(item, quarantined=True)
    return quarantine


def hold_rewritten(
    access: Access,
    item: Item,
    findings: Iterable[Mapping[str, Any]],
    reason: QuarantineReason | str = QuarantineReason.INJECTION,
) -> None:
    """Hold back an item that was given suspected words; to undo those undoes this."""
    was_held = item.quarantined
    held = hold(item, reason, findings)
    if not was_held:
        changes.item_changed(access, item, {"quarantined": False})
        changes.row_added(access, held, fields=["verdict"])


def hold_again(access: Access, item: Item, digests: Collection[str]) -> list[dict[str, Any]]:
    """Hold back what its owner deleted while it was held back; the findings that say so."""
    marks = {*digests, *_names_of(item)}
    deleted = HeldBack.objects.filter(owner_id=item.owner_id, digest__in=marks).first()
    if deleted is None:
        return []
    hold_rewritten(access, item, [_CAME_AGAIN], deleted.reason)
    return [dict(_CAME_AGAIN)]


def remember_deleted(item: Item) -> None:
    """Keep what tells an item that is held back and about to be deleted, in all its versions."""
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
    """What this item says is held back no more for having been deleted."""
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


def let_go(item: Item) -> None:
    """Forget a quarantine that nobody has ruled on, in the caller's transaction."""
    Quarantine.objects.filter(item=item, verdict=Verdict.OPEN).delete()
    _mark(item, quarantined=False)


@transaction.atomic
def rule(user: AbstractUser, quarantine_id: UUID, verdict: str, note: str = "") -> Quarantine:
    """Decide as an admin: a restored item is found again, an upheld one never is.

    An admin may think better of it: the latest verdict holds.
    """
    if not user.has_perm("knowledge.change_quarantine"):
        raise CapabilityDenied(
            "Only an admin rules on what is quarantined.", required=["admin"], have=[]
        )
    ruling = Verdict(one_of(verdict, RULINGS, field="verdict"))
    note = clean_text(note, field="note", shortest=0, longest=MAX_NOTE)
    quarantine = _held(quarantine_id)
    quarantine.verdict, quarantine.note = ruling, note
    quarantine.ruled_by_id, quarantine.ruled_at = user.pk, timezone.now()
    quarantine.save(update_fields=["verdict", "note", "ruled_by", "ruled_at"])
    _mark(quarantine.item, quarantined=ruling == Verdict.UPHELD)
    if ruling == Verdict.RESTORED:
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
    current = Version.objects.filter(item=quarantine.item).order_by("-number").first()
    if current is not None:
        is_fine = quarantine.verdict == Verdict.RESTORED
        current.visibility = quarantine.item.visibility if is_fine else Visibility.PRIVATE
        current.save(update_fields=["visibility"])


def _held(quarantine_id: UUID) -> Quarantine:
    """The quarantine, and before it its item, as who holds items back holds them."""
    quarantines = Quarantine.objects.filter(pk=quarantine_id)
    item = Item.objects.select_for_update().filter(quarantines=quarantine_id).first()
    quarantine = quarantines.select_for_update(of=("self",)).first()
    if item is None or quarantine is None:
        raise NotFound("No such quarantine; its item may have been deleted.")
    quarantine.item = item
    return quarantine


def _mark(item: Item, *, quarantined: bool) -> None:
    if item.quarantined != quarantined:
        item.quarantined = quarantined
        item.save(update_fields=["quarantined", "updated_at"])


def _told(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "rule": finding.rule,
        "sentence": finding.sentence,
        "path": finding.path,
    }
