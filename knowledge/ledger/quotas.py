"""Minutes of transcription: reserved before the work, settled after it, given back on failure."""

from dataclasses import dataclass
from datetime import date
from math import ceil
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import QuotaExceeded
from knowledge.models import Content, ContentState, Reservation, ReservationState, Tier, Usage

RESOURCE = "transcription_minutes"
UNLIMITED = "unlimited"
MONTHS_TOLD = 25
NEAR = 0.8
"""The share of a month's minutes from which an owner is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What an owner has used of this month, in minutes; no cap is no end."""

    tier: str
    cap_per_month: int | None
    used_sec: int

    @property
    def used(self) -> float:
        return round(self.used_sec / 60, 2)

    @property
    def remaining(self) -> float | None:
        if self.cap_per_month is None:
            return None
        return round(max(0, self.cap_per_month * 60 - self.used_sec) / 60, 1)

    def has_room_for(self, seconds: float | None) -> bool:
        """Whether so much more fits; of an unknown length, whether a minute is left."""
        needed = 60 if seconds is None else ceil(seconds)
        if self.cap_per_month is None or needed <= 0:
            return True
        return self.used_sec + needed <= self.cap_per_month * 60

    def exceeded_error(self, minutes: float) -> QuotaExceeded:
        return QuotaExceeded(
            f"This needs {minutes:g} minutes of transcription, and {self.remaining:g} of the "
            f"{self.cap_per_month} a month of the tier {self.tier} are left; "
            "ask the operator for more, or wait for the next month.",
            resource=RESOURCE,
            tier=self.tier,
            cap_per_month=self.cap_per_month,
            used=self.used,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthOfUse:
    """What an owner used in a month: minutes of transcription, transforms and answers."""

    month: date
    used: float
    reserved: float
    transforms: int
    answers: int
    answers_cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UseSoFar:
    """What an owner may use in a month, and has used in this one and in those before."""

    quota: Quota
    this_month: MonthOfUse
    earlier: list[MonthOfUse]


def usage_of(access: Access) -> UseSoFar:
    """The owner's use, month by month, newest first."""
    access.require(Capability.READ)
    now = _this_month()
    rows = Usage.objects.filter(owner_id=access.owner_id, month__lte=now).order_by("-month")
    months = [_month(row) for row in rows[:MONTHS_TOLD]]
    if not months or months[0].month != now:
        months.insert(0, _month(Usage(month=now)))
    return UseSoFar(quota=quota_of(access.owner_id), this_month=months[0], earlier=months[1:])


def quota_of(owner_id: int) -> Quota:
    """What the owner has used and reserved this month."""
    with connection.cursor() as cursor:
        cursor.execute(_QUOTA, [owner_id, owner_id, _this_month()])
        tier, cap_per_month, used_sec = cursor.fetchone()
    return Quota(tier=tier or UNLIMITED, cap_per_month=cap_per_month, used_sec=used_sec)


_QUOTA = """
SELECT tier.name, tier.minutes_per_month,
       coalesce(usage.transcription_sec_used + usage.transcription_sec_reserved, 0)
FROM (SELECT) AS one
LEFT JOIN LATERAL (
    SELECT tier.name, tier.minutes_per_month
    FROM knowledge_tier AS tier
    LEFT JOIN knowledge_allowance AS given ON given.tier_id = tier.id AND given.owner_id = %s
    WHERE given.id IS NOT NULL OR tier.is_default
    ORDER BY given.id NULLS LAST LIMIT 1
) AS tier ON true
LEFT JOIN knowledge_usage AS usage ON usage.owner_id = %s AND usage.month = %s
"""
"""The tier that the owner was given, else the default one, beside the month's use."""


@transaction.atomic
def reserve(owner_id: int, content_id: UUID, seconds: float | None) -> None:
    """Set seconds aside for a content, or change how many; whoever reserved first pays.

    For an unknown length nothing is reserved yet, but a minute must be left; the payer is stored.
    """
    needed = ceil(seconds or 0)
    open_one = _open_reservation(content_id)
    payer = open_one.owner_id if open_one else owner_id
    month = open_one.month if open_one else _this_month()
    usage = _lock_usage(payer, month)
    more = needed - (open_one.seconds if open_one else 0)
    quota = _quota(payer, usage)
    if not quota.has_room_for(more if seconds is not None else None):
        raise quota.exceeded_error(round((more or 60) / 60, 1))
    Usage.objects.filter(pk=usage.pk).update(
        transcription_sec_reserved=F("transcription_sec_reserved") + more
    )
    if open_one:
        Reservation.objects.filter(pk=open_one.pk).update(seconds=needed)
    else:
        Reservation.objects.create(
            owner_id=payer, content_id=content_id, month=month, seconds=needed
        )


def settle(content_id: UUID) -> None:
    """The work is done: what was reserved is used."""
    _close(content_id, ReservationState.SETTLED)


def give_back(content_id: UUID) -> None:
    """The work failed, or is not wanted any more: nothing was used."""
    _close(content_id, ReservationState.RETURNED)


def newly_near(content_id: UUID) -> int | None:
    """The owner who paid for a content, when that used up most of the month for the first time."""
    paid = Reservation.objects.filter(content_id=content_id, state=ReservationState.SETTLED)
    owner_id = paid.values_list("owner_id", flat=True).last()
    if owner_id is None:
        return None
    quota = quota_of(owner_id)
    if quota.cap_per_month is None or quota.used < NEAR * quota.cap_per_month:
        return None
    untold = Usage.objects.filter(owner_id=owner_id, month=_this_month(), is_told_near=False)
    return owner_id if untold.update(is_told_near=True) else None


def release_stale_reservations() -> None:
    """Give back what is reserved for contents that are gone or done."""
    at_work = Content.objects.filter(state__in=[ContentState.QUEUED, ContentState.WORKING])
    open_ones = Reservation.objects.filter(state=ReservationState.RESERVED)
    for content_id in open_ones.exclude(content_id__in=at_work.values("pk")).values_list(
        "content_id", flat=True
    ):
        give_back(content_id)


@transaction.atomic
def _close(content_id: UUID, outcome: ReservationState) -> None:
    reservation = _open_reservation(content_id)
    if reservation is None:
        return
    usage = _lock_usage(reservation.owner_id, reservation.month)
    used = reservation.seconds if outcome == ReservationState.SETTLED else 0
    Usage.objects.filter(pk=usage.pk).update(
        transcription_sec_reserved=F("transcription_sec_reserved") - reservation.seconds,
        transcription_sec_used=F("transcription_sec_used") + used,
    )
    Reservation.objects.filter(pk=reservation.pk).update(state=outcome)


def _open_reservation(content_id: UUID) -> Reservation | None:
    reservations = Reservation.objects.select_for_update()
    return reservations.filter(content_id=content_id, state=ReservationState.RESERVED).first()


def _lock_usage(owner_id: int, month: date) -> Usage:
    """Get or create the month's row, and lock it until this transaction ends."""
    Usage.objects.get_or_create(owner_id=owner_id, month=month)
    return Usage.objects.select_for_update().get(owner_id=owner_id, month=month)


def _quota(owner_id: int, usage: Usage | None) -> Quota:
    tier = Tier.objects.for_owner(owner_id)
    return Quota(
        tier=tier.name if tier else UNLIMITED,
        cap_per_month=tier.minutes_per_month if tier else None,
        used_sec=usage.transcription_sec_used + usage.transcription_sec_reserved if usage else 0,
    )


def lock_usage_of_this_month(owner_id: int) -> Usage:
    """The owner's row of this month, locked for the caller's transaction."""
    return _lock_usage(owner_id, _this_month())


def _month(usage: Usage) -> MonthOfUse:
    return MonthOfUse(
        month=usage.month,
        used=round(usage.transcription_sec_used / 60, 2),
        reserved=round(usage.transcription_sec_reserved / 60, 2),
        transforms=usage.transforms,
        answers=usage.answers,
        answers_cost_usd=float(usage.answers_cost_usd),
    )


def _this_month() -> date:
    return timezone.now().date().replace(day=1)
