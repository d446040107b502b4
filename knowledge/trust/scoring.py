"""The quality of contributions, kept with its reasons, and moved by judgments."""

from collections.abc import Collection, Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery

from knowledge.models import REGISTRY_TYPES, Agent, Item, ItemType, Quality, Validation, Version
from knowledge.trust import reputation
from knowledge.trust.assessing import assess_anywhere
from knowledge.trust.bayes import STRENGTH, Posterior, WeighedJudgment, posterior_of
from knowledge.trust.novelty import Novelty, novelty_of
from knowledge.trust.quality import Assessment, Factor

_BATCH = 1_000


def score_item(item: Item, *, novelty: Novelty | None = None) -> Quality:
    """Score a skill or unit as it is now, and keep the score with its reasons.

    Novelty asks the embedder: who holds rows measures it before, by `novelty_of_text`.
    """
    novelty = novelty or novelty_of(item)
    assessment = assess_anywhere(
        item.type, _document(item), novelty.measurement, domain=item.attributes.get("domain", "")
    )
    with transaction.atomic():
        posterior = posterior_of(assessment.intrinsic, _judgments(item.pk))
        quality, _ = Quality.objects.update_or_create(
            item=item,
            defaults={
                "profile": assessment.profile,
                "factors": _factors(assessment, novelty),
                "intrinsic": assessment.intrinsic,
                "validations": _posterior_fields(posterior, _judgments(item.pk)),
                "score": posterior.mean,
            },
        )
        _set(item, posterior.mean)
        reputation.note_contribution(item.added_by_agent)
    return quality


def rescore(item_id: UUID) -> None:
    """Score an item anew, if it is still there to be scored."""
    items = Item.objects.select_related("content").filter(type__in=REGISTRY_TYPES)
    if item := items.filter(pk=item_id).first():
        score_item(item)


def items_without_score(limit: int) -> list[UUID]:
    """Contributions without a score, or whose novelty could only be assumed."""
    assumed = Quality.objects.filter(factors__novelty__is_known=False).values("item")
    items = Item.objects.filter(type__in=REGISTRY_TYPES, in_kb=True)
    waiting = items.filter(Q(quality_parts=None) | Q(pk__in=assumed)).order_by("created_at")
    return list(waiting.values_list("pk", flat=True)[:limit])


def reweigh(item: Item) -> float:
    """Weigh the judgments of an item in anew, in the caller's transaction, which holds it."""
    quality = Quality.objects.filter(item=item).first()
    if quality is None:
        quality = score_item(item)
    judgments = _judgments(item.pk)
    posterior = posterior_of(quality.intrinsic, judgments)
    quality.score = posterior.mean
    quality.validations = _posterior_fields(posterior, judgments)
    quality.save(update_fields=["score", "validations", "computed_at"])
    _set(item, posterior.mean)
    return posterior.mean


def reweigh_all() -> int:
    """Weigh all judgments in anew, with the reputations that there are now."""
    judged = Validation.objects.filter(is_current=True).order_by("item_id")
    item_ids = list(judged.values_list("item_id", flat=True).distinct())
    for at in range(0, len(item_ids), _BATCH):
        _reweigh_batch(item_ids[at : at + _BATCH])
    return len(item_ids)


@transaction.atomic
def _reweigh_batch(item_ids: Collection[UUID]) -> None:
    held = Item.objects.select_for_update().filter(pk__in=item_ids).order_by("pk")
    locked = list(held.values_list("pk", flat=True))
    qualities = {each.item_id: each for each in Quality.objects.filter(item__in=locked)}
    moved = []
    for item_id, rows in _by_item(Validation.objects.filter(item__in=qualities)):
        quality = qualities[item_id]
        posterior = posterior_of(quality.intrinsic, rows)
        now = posterior.mean, _posterior_fields(posterior, rows)
        if (quality.score, quality.validations) != now:
            quality.score, quality.validations = now
            moved.append(quality)
    Quality.objects.bulk_create(
        moved,
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["score", "validations"],
    )
    scores = Quality.objects.filter(item=OuterRef("pk")).values("score")
    ids = [quality.item_id for quality in moved]
    Item.objects.filter(pk__in=ids).update(quality=Subquery(scores))


def _by_item(validations: QuerySet[Validation]) -> Iterable[tuple[UUID, list[WeighedJudgment]]]:
    rows = list(validations.filter(is_current=True).order_by("item_id", "agent_id"))
    reputations = _reputations({row.agent_id for row in rows})
    for item_id, group in groupby(rows, key=attrgetter("item_id")):
        yield (
            item_id,
            [WeighedJudgment(row.valid, reputations.get(row.agent_id, 0.0)) for row in group],
        )


def _judgments(item_id: UUID) -> list[WeighedJudgment]:
    return next((rows for _, rows in _by_item(Validation.objects.filter(item=item_id))), [])


def _reputations(agent_ids: Collection[str]) -> dict[str, float]:
    known = Agent.objects.filter(agent_id__in=agent_ids)
    return dict(known.values_list("agent_id", "score"))


def _set(item: Item, score: float) -> None:
    """Beside what people change: an item's version does not follow its score."""
    item.quality = score
    Item.objects.filter(pk=item.pk).update(quality=score)


def _document(item: Item) -> dict[str, Any]:
    """The unit as it was contributed last; of a skill, what it says of itself and its body."""
    version = Version.objects.filter(item=item).order_by("-number").first()
    document = version.document if version and isinstance(version.document, dict) else {}
    if item.type != ItemType.SKILL:
        return document
    return {
        **item.attributes,
        **document,
        "tags": item.tags,
        "body": document.get("body") or item.content.text,
        "files": list(version.files) if version else [],
    }


def _factors(assessment: Assessment, novelty: Novelty) -> dict[str, Any]:
    shown = {factor.name: _factor_fields(factor) for factor in assessment.factors}
    shown["novelty"]["is_known"] = novelty.is_known
    return shown


def _factor_fields(factor: Factor) -> dict[str, Any]:
    return {
        "value": factor.value,
        "weight": factor.weight,
        "share": factor.share,
        "because": factor.because,
    }


def _posterior_fields(
    posterior: Posterior, judgments: Collection[WeighedJudgment]
) -> dict[str, Any]:
    valid = sum(each.valid for each in judgments)
    return {
        "prior_strength": STRENGTH,
        "valid": valid,
        "not_valid": len(judgments) - valid,
        "weight_for": posterior.weight_for,
        "weight_against": posterior.weight_against,
        "alpha": posterior.alpha,
        "beta": posterior.beta,
    }
