"""What follows when judgments or versions are undone: the scores that they had made."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from knowledge.models import Change, Item, Quarantine, Validation, Verdict
from knowledge.moderation import quarantine
from knowledge.registry.validating import REPORTS, open_reports
from knowledge.trust import actors, reputation, scoring


@contextmanager
def followed(change: Change) -> Iterator[None]:
    """Count anew what reverting a change alters, in the transaction that reverts it."""
    model = change.after.get("model") or change.before.get("model")
    if model == "knowledge.version" and "row" in change.after:
        yield
        actors.rescore_item.send(change.after["row"]["item_id"])
    elif model == "knowledge.validation" and (judgment := _judgment(change)):
        # The item before the count, as whoever judges holds them.
        _held(judgment.item_id)
        with reputation.counted(judgment.agent_id, judgment.contributor):
            yield
        _settle(judgment.item_id)
    else:
        yield


def _judgment(change: Change) -> Validation | None:
    return Validation.objects.filter(pk=change.target).first()


def _held(item_id: UUID) -> Item | None:
    items = Item.objects.select_related("content").select_for_update(of=("self",))
    return items.filter(pk=item_id).first()


def _settle(item_id: UUID) -> None:
    item = _held(item_id)
    if item is None:
        return
    scoring.reweigh(item)
    if _is_held_by_reports(item) and len(open_reports(item)) < REPORTS:
        quarantine.let_go(item)


def _is_held_by_reports(item: Item) -> bool:
    """And by nothing else that was found meanwhile."""
    held = Quarantine.objects.filter(item=item, verdict=Verdict.OPEN).first()
    return held is not None and all(each.get("kind") == "report" for each in held.findings)
