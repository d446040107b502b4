"""The step that sums an item up: paid for once, and kept beside its text."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from knowledge.models import Content, Item, Transform, TransformState, Usage
from knowledge.monitoring.metrics import provider_call
from knowledge.providers import live_summarizer
from knowledge.providers.protocols import Summary
from knowledge.text.places import link_to, span_locator
from knowledge.text.quotes import span_of


def summarize_item(item_id: UUID) -> None:
    """Write the summary that an item waits for; one that is there already is not paid again."""
    queued = Transform.objects.filter(item_id=item_id, state=TransformState.QUEUED)
    transform = queued.select_related("item__content").first()
    if transform is None:
        return
    item = transform.item
    if not item.content.is_ready:
        queued.update(state=TransformState.WAITING)
        return
    # Outside of any transaction: this may take minutes.
    summarizer = live_summarizer()
    with provider_call(settings.QUARRY_SUMMARIZER, "summarize"):
        summary = summarizer.summarize(item.title, item.content.text)
    _keep(item, summary)


def mark_failed(item_id: UUID, message: str) -> None:
    """Say why an item that waited for its summary has none."""
    Transform.objects.filter(item_id=item_id, state=TransformState.QUEUED).update(
        state=TransformState.FAILED, error=message, changed_at=timezone.now()
    )


def transforms_due(content: Content) -> list[UUID]:
    """Queue the summaries that waited for this content, and answer whose items' they are.

    Runs within the transaction that makes the content ready; the caller sends the jobs.
    """
    waiting = Transform.objects.filter(item__content=content, state=TransformState.WAITING)
    due = list(waiting.select_for_update(of=("self",)).values_list("item_id", flat=True))
    Transform.objects.filter(item_id__in=due).update(
        state=TransformState.QUEUED, error="", changed_at=timezone.now()
    )
    return due


@transaction.atomic
def _keep(item: Item, summary: Summary) -> None:
    # Of two workers at the same summary the second finds it done, and neither keeps nor counts.
    queued = Transform.objects.select_for_update().filter(item=item, state=TransformState.QUEUED)
    transform = queued.first()
    if transform is None:
        return
    transform.state = TransformState.DONE
    transform.tldr = summary.tldr
    transform.key_points = list(summary.key_points)
    transform.quotes = list(_locate_quotes(item, summary.quotes))
    transform.model = summary.model[:100]
    transform.cost_usd = Decimal(str(round(summary.cost_usd, 4)))
    transform.error = ""
    transform.save()
    _count(item.owner_id, timezone.now().date())


def _locate_quotes(item: Item, quotes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each quote with its place in the source; one that does not stand there is left out."""
    content = item.content
    for quote in quotes:
        if span := span_of(quote, content.text):
            text = " ".join(content.text[slice(*span)].split())
            yield {"text": text, "locator": _locator(content, *span)}


def _locator(content: Content, start: int, end: int) -> dict[str, Any]:
    place = span_locator(content.locators, start, end)
    locator = {name: place[name] for name in ("char_span", "page", "start_sec") if name in place}
    if content.url:
        page, start_sec = locator.get("page"), locator.get("start_sec")
        locator["url"] = link_to(
            content.url,
            content.kind,
            media_url=content.media_url,
            page=page,
            start_sec=start_sec,
        )
    return locator


def _count(owner_id: int, today: date) -> None:
    usage, _ = Usage.objects.select_for_update().get_or_create(
        owner_id=owner_id, month=today.replace(day=1)
    )
    Usage.objects.filter(pk=usage.pk).update(transforms=F("transforms") + 1)
