"""Recomputes scores when judgments or versions are undone."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from knowledge.models import Change, Item, Quarantine, Validation, Verdict
from knowledge.moderation import quarantine
from knowledge.registry.validating import REPORTS, open_reports
from knowledge.trust import actors, reputation, scoring


def lock_judged_item(change: Change) -> None:
    """If a change is about a judgment, lock the item that was judged."""
    if judgment := _judgment(change):
        _lock_item(judgment.item_id)


@contextmanager
def recompute_scores(change: Change) -> Iterator[None]:
    """Recompute scores after reverting a change, in the transaction that reverts it."""
    if _model(change) == "knowledge.version":
        yield
        actors.rescore_item.send(change.after["row"]["item_id"])
    elif judgment := _judgment(change):
        with reputation.recount_judgments(judgment.agent_id, judgment.contributor):
            yield
        _recount_item(judgment.item_id)
    else:
        yield


def _model(change: Change) -> str:
    return str(change.after.get("model") or change.before.get("model"))


def _judgment(change: Change) -> Validation | None:
    if _model(change) != "knowledge.validation":
        return None
    return Validation.objects.filter(pk=change.target).first()


def _lock_item(item_id: UUID) -> Item | None:
    items = Item.objects.select_related("content").select_for_update(of=("self",))
    return items.filter(pk=item_id).first()


def _recount_item(item_id: UUID) -> None:
    item = _lock_item(item_id)
    if item is None:
        return
    scoring.reweigh(item)
    if _is_held_by_reports(item) and len(open_reports(item)) < REPORTS:
        quarantine.drop_quarantine(item)


def _is_held_by_reports(item: Item) -> bool:
    """And by nothing else that was found meanwhile."""
    held = Quarantine.objects.filter(item=item, verdict=Verdict.OPEN).first()
    return held is not None and all(each.get("kind") == "report" for each in held.findings)
