"""What is held back from every search until an admin has ruled, and why."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.utils import timezone

from knowledge import changes
from knowledge.access import Access
from knowledge.errors import CapabilityDenied, InvalidInput, NotFound
from knowledge.models import Item, Quarantine, QuarantineReason, Verdict
from knowledge.screening import Finding, screen_document
from knowledge.validation import clean_text, one_of

MAX_NOTE = 2_000
RULINGS = (Verdict.RESTORED.value, Verdict.UPHELD.value)


def screened(*values: Any) -> list[dict[str, Any]]:
    """What looks like orders to a model in these texts or JSON values; a secret is refused."""
    secrets, orders = found_in(*values)
    if secrets:
        first = secrets[0]
        where = "" if first["path"] in ("", "$") else f" (at {first['path']})"
        raise InvalidInput(
            f"This looks like a secret: {first['sentence'].removesuffix('.')}{where}. "
            "Take it out or put a placeholder in its place, and send it again.",
            findings=secrets,
        )
    return orders


def found_in(*values: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The secrets in these texts or JSON values, and what looks like orders to a model."""
    verdicts = [screen_document(value) for value in values]
    secrets = [_told(finding) for verdict in verdicts for finding in verdict.secrets]
    return secrets, [_told(finding) for verdict in verdicts for finding in verdict.injections]


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
        quarantine.findings = [*quarantine.findings, *findings]
        quarantine.save(update_fields=["findings"])
    _mark(item, quarantined=True)
    return quarantine


def hold_rewritten(access: Access, item: Item, findings: Iterable[Mapping[str, Any]]) -> None:
    """Hold back an item that was given suspected words; to undo those undoes this."""
    was_held = item.quarantined
    held = hold(item, QuarantineReason.INJECTION, findings)
    if not was_held:
        changes.item_changed(access, item, {"quarantined": False})
        changes.row_added(access, held, fields=["verdict"])


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
    return quarantine


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
