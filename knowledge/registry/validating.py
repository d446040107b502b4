"""Judgments of skills and knowledge units: one of each owner, never of their own work."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InvalidInput, not_found
from knowledge.ledger import changes
from knowledge.models import (
    REGISTRY_TYPES,
    Agent,
    Item,
    Quality,
    Quarantine,
    QuarantineReason,
    Validation,
    Verdict,
    Visibility,
)
from knowledge.moderation import quarantine
from knowledge.moderation.findings import screen_value
from knowledge.trust import reputation, scoring
from knowledge.validation import clean_text, within

MAX_FEEDBACK = 5_000
MAX_PER_PAGE = 100
MAX_PAGE = 1_000_000
REPORTS = 3
"""So many owners with standing must find a unit not valid to have it held back for an admin."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judgment that was taken, and what its unit scores now."""

    validation: Validation
    quality_score: float


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judgment as it is shown, with the reputation that its agent has now."""

    agent_id: str
    valid: bool
    feedback: str
    reputation_score: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Judgments:
    """One page of the judgments that hold of a unit, newest first, and its quality."""

    validations: list[Opinion]
    quality: Quality | None
    total: int
    page: int
    per_page: int


@dataclass(frozen=True, slots=True)
class Reports:
    """One page of the judgments that a unit is not valid, and for its owner how it stands."""

    reports: list[Validation]
    quarantine: Quarantine | None
    total: int
    page: int
    per_page: int


def validate_unit(
    access: Access,
    unit_id: UUID,
    *,
    valid: bool,
    feedback: str | None = None,
    types: Collection[str] = REGISTRY_TYPES,
) -> Judgment:
    """Judge another's skill or unit; a new judgment takes the place of its owner's earlier one."""
    access.require(Capability.WRITE)
    if not isinstance(valid, bool):
        raise InvalidInput("valid must be true or false.", field="valid")
    feedback = _screen_feedback(feedback or "")
    agent_id = _agent_of(access)
    with transaction.atomic():
        item = _published_item(access, unit_id, types, for_update=True)
        contributor = contributor_of(item)
        _refuse_own(access, item)
        _replace_others(access, item, agent_id, contributor)
        with reputation.recount_judgments(agent_id, contributor):
            _replace_own(access, item, agent_id)
            validation = Validation.objects.create(
                item=item,
                agent_id=agent_id,
                owner_id=access.owner_id,
                contributor=contributor,
                valid=valid,
                feedback=feedback,
                was_public=item.visibility == Visibility.NETWORK,
                reputation=_reputations([agent_id]).get(agent_id, 0.0),
                added_by_token=access.token_id,
            )
            changes.row_added(access, validation)
        score = scoring.reweigh(item)
        _quarantine_if_reported(item)
    return Judgment(validation, score)


def list_validations(
    access: Access,
    unit_id: UUID,
    *,
    types: Collection[str] = REGISTRY_TYPES,
    page: int = 1,
    per_page: int = 20,
) -> Judgments:
    """What agents say of a unit that the caller may read, each with its reputation."""
    access.require(Capability.READ)
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    item = _published_item(access, unit_id, types)
    current = Validation.objects.filter(item=item, is_current=True).order_by("-at", "pk")
    start = (page - 1) * per_page
    opinions = _opinions(current[start : start + per_page])
    quality = Quality.objects.filter(item=item).first()
    return Judgments(opinions, quality, current.count(), page, per_page)


def list_reports(
    access: Access,
    unit_id: UUID,
    *,
    types: Collection[str] = REGISTRY_TYPES,
    page: int = 1,
    per_page: int = 20,
) -> Reports:
    """Who finds a unit that the caller may read not valid, and why; newest first.

    Its quarantine is for those who could change it: to others there is nothing to know of one.
    """
    access.require(Capability.READ)
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    item = _published_item(access, unit_id, types)
    against = Validation.objects.filter(item=item, is_current=True, valid=False)
    start = (page - 1) * per_page
    reports = list(against.order_by("-at", "pk")[start : start + per_page])
    is_own = Item.objects.visible_to(access).filter(pk=item.pk).exists()
    held = quarantine.last_of(item) if is_own else None
    return Reports(reports, held, against.count(), page, per_page)


def contributor_of(item: Item) -> str:
    """Whose work an item is: the agent's that added it, or its owner's in person."""
    return item.added_by_agent or item.owner.get_username()


def _opinions(validations: Iterable[Validation]) -> list[Opinion]:
    rows = list(validations)
    scores = _reputations([row.agent_id for row in rows])
    return [
        Opinion(row.agent_id, row.valid, row.feedback, scores.get(row.agent_id, 0.0), row.at)
        for row in rows
    ]


def _reputations(agent_ids: Collection[str]) -> dict[str, float]:
    known = Agent.objects.filter(agent_id__in=agent_ids)
    return dict(known.values_list("agent_id", "score"))


def _agent_of(access: Access) -> str:
    if access.agent_id:
        return access.agent_id
    return str(get_user_model()._default_manager.get(pk=access.owner_id).get_username())


def _screen_feedback(feedback: str) -> str:
    if not feedback:
        return ""
    clean_text(feedback, field="feedback", shortest=0, longest=MAX_FEEDBACK)
    if findings := screen_value(feedback).without_secrets().orders:
        raise InvalidInput(
            f"feedback reads like orders to a model: {findings[0]['sentence']} "
            "Say what is wrong with the unit in other words.",
            field="feedback",
            findings=findings,
        )
    return feedback


def _published_item(
    access: Access, unit_id: UUID, types: Collection[str], *, for_update: bool = False
) -> Item:
    items = Item.objects.published_to(access).filter(type__in=types)
    if for_update:
        items = items.select_for_update(of=("self",))
    item = items.select_related("content", "owner").filter(pk=unit_id).first()
    if item is None:
        raise not_found("skill or knowledge unit")
    return item


def _refuse_own(access: Access, item: Item) -> None:
    if item.owner_id == access.owner_id:
        raise Conflict(
            "No token judges its own owner's contribution; leave that to others.",
            reason="own_contribution",
        )


def _replace_others(access: Access, item: Item, agent_id: str, contributor: str) -> None:
    """All tokens of one owner have one judgment: this one's takes the place of the others'."""
    of_owner = Validation.objects.filter(item=item, owner_id=access.owner_id, is_current=True)
    for earlier in of_owner.exclude(agent_id=agent_id):
        with reputation.recount_judgments(earlier.agent_id, contributor):
            _end(access, earlier)


def _replace_own(access: Access, item: Item, agent_id: str) -> None:
    earlier = Validation.objects.filter(item=item, agent_id=agent_id, is_current=True).first()
    if earlier is not None:
        _end(access, earlier)


def _end(access: Access, judgment: Validation) -> None:
    before = changes.as_data(judgment)
    judgment.is_current = False
    judgment.save(update_fields=["is_current"])
    changes.row_changed(access, judgment, before)


def _quarantine_if_reported(item: Item) -> None:
    if item.quarantined:
        return
    reports = open_reports(item)
    if len(reports) >= REPORTS:
        findings = [{"kind": "report", "agent_id": report.agent_id} for report in reports]
        quarantine.quarantine_item(item, findings, QuarantineReason.REPORTS)


def open_reports(item: Item) -> list[Validation]:
    """One judgment of each owner with standing that an item is not valid.

    Those of owners whose reports an admin has heard already are left out.
    """
    reports = Validation.objects.filter(item=item, valid=False).order_by("at", "pk")
    ruled = Quarantine.objects.filter(
        item=item, reason=QuarantineReason.REPORTS, verdict=Verdict.RESTORED
    )
    last = ruled.order_by("-ruled_at").values_list("ruled_at", flat=True).first()
    heard = reports.filter(at__lte=last) if last else reports.none()
    known = {_reporter(report) for report in heard}
    current = {_reporter(report): report for report in reports.filter(is_current=True)}
    unheard = [report for reporter, report in current.items() if reporter not in known]
    names = {reputation.owner_of(report.agent_id) for report in unheard}
    standing = reputation.owners_with_standing(names)
    return [each for each in unheard if reputation.owner_of(each.agent_id) in standing]


def _reporter(report: Validation) -> int | str:
    """Whose judgment it is; of one whose owner is gone, the agent's."""
    return report.owner_id or report.agent_id
