"""Jobs: load by id, check, call one step of the pipeline."""

from collections.abc import Callable, Sequence
from uuid import UUID

import dramatiq
from django.db import transaction
from dramatiq.middleware import CurrentMessage

from knowledge.errors import InternalError, ProviderUnavailable, QuarryError
from knowledge.indexing import generations
from knowledge.ingest import intake, summaries
from knowledge.jobs import sweeping
from knowledge.jobs.broker import configure_broker
from knowledge.jobs.scheduling import every
from knowledge.ledger import changes, idempotency, quotas, webhooks
from knowledge.models import Content, IndexStatus, Item, WebhookEvent
from knowledge.providers.protocols import StillTranscribing
from knowledge.sources.extracted import Extracted
from knowledge.storage import leftovers

# Here, and not when the app is ready: an actor belongs to the broker there is when it is made.
configure_broker()

_MAX_RETRIES = 8
_HOUR = 3_600_000


@dramatiq.actor(max_retries=_MAX_RETRIES, min_backoff=2_000, time_limit=_HOUR)
def embed_item(item_id: str) -> None:
    """Give an item found by word its vectors."""
    try:
        generations.embed_item(UUID(item_id))
    except ProviderUnavailable as error:
        if _is_last_try():
            generations.mark_embedding_failed(UUID(item_id), error.message)
        raise


@dramatiq.actor(max_retries=_MAX_RETRIES, min_backoff=2_000, time_limit=_HOUR)
def extract_content(content_id: str) -> None:
    """Read an uploaded document."""
    _fill_by(intake.read_upload, UUID(content_id))


@dramatiq.actor(
    queue_name="transcription",
    max_retries=_MAX_RETRIES,
    min_backoff=5_000,
    max_backoff=600_000,
    time_limit=12 * _HOUR,
)
def transcribe_content(content_id: str) -> None:
    """Write down what a recording says; while a vendor works, look again later."""
    try:
        _fill_by(intake.transcribe, UUID(content_id))
    except StillTranscribing as wait:
        delay = int(wait.retry_after_sec * 1000)
        transcribe_content.send_with_options(args=(content_id,), delay=delay)


@dramatiq.actor(max_retries=_MAX_RETRIES, max_backoff=600_000, time_limit=_HOUR)
def summarize_item(item_id: str) -> None:
    """Sum an item up; why there is no summary is told on its row."""
    try:
        summaries.summarize_item(UUID(item_id))
    except QuarryError as error:
        if _may_pass(error) and not _is_last_try():
            raise
        summaries.mark_failed(UUID(item_id), error.message)
    except Exception:
        if _is_last_try():
            summaries.mark_failed(UUID(item_id), "Something went wrong here; ask for it again.")
        raise


# Doubling from three to six minutes on, the last of nine tries comes about a day after the first.
@dramatiq.actor(max_retries=_MAX_RETRIES, min_backoff=180_000, time_limit=60_000)
def deliver_webhook(delivery_id: str) -> None:
    """Tell a webhook what happened."""
    try:
        webhooks.deliver(UUID(delivery_id))
    except ProviderUnavailable:
        if not _is_last_try():
            raise
        webhooks.give_up(UUID(delivery_id))


@dramatiq.actor(max_retries=_MAX_RETRIES, min_backoff=10_000, time_limit=600_000)
def remove_stored_file(upload_id: str) -> None:
    """Remove the file of an upload whose content is gone."""
    leftovers.remove_file(UUID(upload_id))


@every(900)
@dramatiq.actor(max_retries=0, time_limit=3_600_000)
def sweep_uploads() -> None:
    """Remove the files of all uploads that nobody finished, and whose content is gone."""
    leftovers.remove_expired()


@every(300)
@dramatiq.actor(max_retries=0, time_limit=_HOUR)
def sweep_lost_jobs() -> None:
    """Send again what a job server lost, and say so of what killed its workers too often."""
    for content in Content.objects.filter(pk__in=sweeping.stuck_contents()):
        content.save(update_fields=["changed_at"])
        start(content)
    for item in Item.objects.filter(pk__in=sweeping.stuck_items()):
        item.save(update_fields=["updated_at"])
        embed_item.send(str(item.pk))
    lost = InternalError("Its job died too often; retry, then tell the operator.")
    for content_id in sweeping.given_up_contents():
        _fail(content_id, lost)
    for item_id in sweeping.given_up_items():
        generations.mark_embedding_failed(item_id, lost.message)


@every(3600)
@dramatiq.actor(max_retries=0, time_limit=_HOUR)
def sweep_leftovers() -> None:
    """Give back and remove what was kept for contents and calls that are gone."""
    quotas.give_back_forgotten()
    intake.remove_abandoned_media()
    idempotency.forget_old()
    changes.forget_old()


def start(content: Content) -> None:
    """Send the job that a content waits for, in the caller's transaction."""
    actor = transcribe_content if content.is_recording else extract_content
    actor.send(str(content.pk))


def follow(items: Sequence[Item]) -> None:
    """Send what comes after a content's text is there, in the caller's transaction."""
    for item in items:
        if item.index_status == IndexStatus.KEYWORD:
            embed_item.send(str(item.pk))
        announce(WebhookEvent.ITEM_READY, item)
    for content in {item.content for item in items}:
        for item_id in summaries.transforms_due(content):
            summarize_item.send(str(item_id))
        if content.is_recording:
            _tell_of_quota(content.pk)


def announce(event: WebhookEvent, item: Item) -> None:
    """Have the owner's webhooks told, in the caller's transaction."""
    for delivery_id in webhooks.announce(event, item):
        deliver_webhook.send(str(delivery_id))


def _tell_of_quota(content_id: UUID) -> None:
    """Once a month, when most of an owner's minutes are used."""
    owner_id = quotas.newly_near(content_id)
    if owner_id is not None:
        for delivery_id in webhooks.announce_quota(owner_id, quotas.quota_of(owner_id)):
            deliver_webhook.send(str(delivery_id))


def _fill_by(step: Callable[[UUID], Extracted | None], content_id: UUID) -> None:
    """Run a step and keep what it gives; what cannot pass fails the content, and only that."""
    try:
        extracted = step(content_id)
        if extracted is not None:
            with transaction.atomic():
                follow(intake.fill(content_id, extracted))
    except StillTranscribing:
        raise
    except QuarryError as error:
        if _may_pass(error) and not _is_last_try():
            raise
        _fail(content_id, error)
    except Exception:
        if _is_last_try():
            _fail(
                content_id,
                InternalError("Something went wrong here; retry, then tell the operator."),
            )
        raise


def _fail(content_id: UUID, error: QuarryError) -> None:
    with transaction.atomic():
        for item in intake.fail(content_id, error):
            announce(WebhookEvent.ITEM_FAILED, item)


def _may_pass(error: QuarryError) -> bool:
    """Whether the same call may go well later: an outage, but not a broken file."""
    return bool(error.details.get("may_pass", False))


def _is_last_try() -> bool:
    message = CurrentMessage.get_current_message()
    return message is None or message.options.get("retries", 0) >= _MAX_RETRIES
