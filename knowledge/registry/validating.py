"""Judgments of skills and knowledge units: one of each agent, never of its own work."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet

from knowledge import changes, quarantine
from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InvalidInput, NotFound
from knowledge.models import (
    REGISTRY_TYPES,
    Agent,
    Item,
    Quality,
    Quarantine,
    QuarantineReason,
    Validation,
    Verdict,
    Version,
    Visibility,
)
from knowledge.trust import reputation, scoring
from knowledge.validation import clean_text, within

MAX_FEEDBACK = 5_000
MAX_PER_PAGE = 100
MAX_PAGE = 1_000_000
REPORTS = 3
"""So many agents must find a unit not valid before it is held back for an admin."""


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
    """Judge a skill or unit; a new judgment takes the place of the agent's earlier one."""
    access.require(Capability.WRITE)
    if not isinstance(valid, bool):
        raise InvalidInput("valid must be true or false.", field="valid")
    feedback = _screened(feedback or "")
    agent_id = _agent_of(access)
    with transaction.atomic():
        item = _published(access, unit_id, types, for_update=True)
        contributor = contributor_of(item)
        _refuse_own(item, agent_id, contributor)
        _refuse_held(item)
        with reputation.counted(agent_id, contributor):
            _replace(access, item, agent_id)
            validation = Validation.objects.create(
                item=item,
                agent_id=agent_id,
                contributor=contributor,
                valid=valid,
                feedback=feedback,
                was_public=item.visibility == Visibility.NETWORK,
                reputation=_reputations([agent_id]).get(agent_id, 0.0),
                added_by_token=access.token_id,
            )
            changes.row_added(access, validation)
        score = scoring.reweigh(item)
        _hold_if_reported(item)
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
    item = _published(access, unit_id, types)
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
    item = _published(access, unit_id, types)
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


def _screened(feedback: str) -> str:
    if not feedback:
        return ""
    clean_text(feedback, field="feedback", shortest=0, longest=MAX_FEEDBACK)
    if findings := quarantine.screened(feedback):
        raise InvalidInput(
            f"feedback reads like orders to a model: {findings[0]['sentence']} "
            "Say what is wrong with the unit in other words.",
            field="feedback",
            findings=findings,
        )
    return feedback


def _published(
    access: Access, unit_id: UUID, types: Collection[str], *, for_update: bool = False
) -> Item:
    items = Item.objects.published_to(access).filter(type__in=types)
    if for_update:
        items = items.select_for_update(of=("self",))
    item = items.select_related("content", "owner").filter(pk=unit_id).first()
    if item is None:
        raise NotFound("No such skill or knowledge unit, or it is out of this token's reach.")
    return item


def _refuse_own(item: Item, agent_id: str, contributor: str) -> None:
    wrote = Version.objects.filter(item=item, added_by_agent=agent_id)
    if agent_id == contributor or wrote.exists():
        raise Conflict(
            "An agent cannot judge its own contribution; leave that to others.",
            reason="own_contribution",
        )


def _refuse_held(item: Item) -> None:
    """Its owner's agents still read what is held back; to all others it is not there."""
    if item.quarantined:
        raise NotFound("It is held back until an admin has ruled; nobody judges it meanwhile.")


def _replace(access: Access, item: Item, agent_id: str) -> None:
    earlier = Validation.objects.filter(item=item, agent_id=agent_id, is_current=True).first()
    if earlier is not None:
        before = changes.as_data(earlier)
        earlier.is_current = False
        earlier.save(update_fields=["is_current"])
        changes.row_changed(access, earlier, before)


def _hold_if_reported(item: Item) -> None:
    if item.quarantined:
        return
    reports = open_reports(item)
    if reports.count() >= REPORTS:
        agents = reports.order_by("at").values_list("agent_id", flat=True)
        findings = [{"kind": "report", "agent_id": agent_id} for agent_id in agents]
        quarantine.hold(item, QuarantineReason.REPORTS, findings)


def open_reports(item: Item) -> QuerySet[Validation]:
    """The judgments that an item is not valid, but for agents whose reports an admin has heard."""
    reports = Validation.objects.filter(item=item, is_current=True, valid=False)
    ruled = Quarantine.objects.filter(
        item=item, reason=QuarantineReason.REPORTS, verdict=Verdict.RESTORED
    )
    last = ruled.order_by("-ruled_at").first()
    if last is None or last.ruled_at is None:
        return reports
    heard = Validation.objects.filter(item=item, valid=False, at__lte=last.ruled_at)
    return reports.exclude(agent_id__in=heard.values("agent_id"))
