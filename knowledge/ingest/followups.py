"""What follows once a text is there: vectors, summaries and webhooks, each in its own job."""

from collections.abc import Sequence
from uuid import UUID

import dramatiq

from knowledge.errors import ProviderUnavailable, QuarryError
from knowledge.indexing import generations
from knowledge.ingest import summaries
from knowledge.jobs.actors import HOUR, MAX_RETRIES, is_last_try, may_pass
from knowledge.jobs.fairness import LONG_QUEUE, send_job
from knowledge.ledger import quotas, webhooks
from knowledge.models import Content, IndexStatus, Item, WebhookEvent

SHORT_CHUNKS = 30
"""So many are embedded within seconds, by a model on this machine too."""


def send_followups(content: Content, items: Sequence[Item]) -> None:
    """Send what follows for the items that waited for a content, in the caller's transaction."""
    for item in items:
        if item.index_status == IndexStatus.KEYWORD:
            send_embedding(item)
        announce(WebhookEvent.ITEM_READY, item)
    owners = dict(content.items.values_list("pk", "owner_id"))
    for item_id in summaries.transforms_due(content):
        send_job(summarize_item, str(item_id), owner_id=owners[item_id])
    if content.is_recording:
        _announce_quota(content.pk)


def send_embedding(item: Item) -> None:
    """Have an item found by word get its vectors, in the caller's transaction."""
    is_long = item.chunk_count > SHORT_CHUNKS
    send_job(embed_item, str(item.pk), owner_id=item.owner_id, is_long=is_long)


def announce(event: WebhookEvent, *items: Item) -> None:
    """Have the webhooks of the items' owner told, in the caller's transaction."""
    for delivery_id in webhooks.announce(event, *items):
        send_job(deliver_webhook, str(delivery_id), owner_id=items[0].owner_id)


def _announce_quota(content_id: UUID) -> None:
    """Once a month, when most of an owner's minutes are used."""
    owner_id = quotas.newly_near(content_id)
    if owner_id is not None:
        for delivery_id in webhooks.announce_quota(owner_id, quotas.quota_of(owner_id)):
            send_job(deliver_webhook, str(delivery_id), owner_id=owner_id)


@dramatiq.actor(max_retries=MAX_RETRIES, min_backoff=2_000, time_limit=HOUR)
def embed_item(item_id: str) -> None:
    """Give an item found by word its vectors."""
    try:
        generations.embed_item(UUID(item_id))
    except ProviderUnavailable as error:
        if is_last_try():
            generations.mark_embedding_failed(UUID(item_id), error.message)
        raise


@dramatiq.actor(
    queue_name=LONG_QUEUE, max_retries=MAX_RETRIES, max_backoff=600_000, time_limit=HOUR
)
def summarize_item(item_id: str) -> None:
    """Sum an item up; why there is no summary is told on its row."""
    try:
        summaries.summarize_item(UUID(item_id))
    except QuarryError as error:
        if may_pass(error) and not is_last_try():
            raise
        summaries.mark_failed(UUID(item_id), error.message)
    except Exception:
        if is_last_try():
            summaries.mark_failed(UUID(item_id), "Something went wrong here; ask for it again.")
        raise


# Doubling from three to six minutes on, the last of nine tries comes about a day after the first.
@dramatiq.actor(max_retries=MAX_RETRIES, min_backoff=180_000, time_limit=60_000)
def deliver_webhook(delivery_id: str) -> None:
    """Tell a webhook what happened."""
    try:
        webhooks.deliver(UUID(delivery_id))
    except ProviderUnavailable:
        if not is_last_try():
            raise
        webhooks.mark_failed(UUID(delivery_id))
